//! PgBouncer between bursar and PostgreSQL.

use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::MetadataExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{EVERY_RECORD, Place};

struct Pooler {
    process: Child,
    address: SocketAddr,
}

impl Pooler {
    fn before(place: &Place, mode: &str) -> Self {
        let (address, server) = (bursar_testing::free_address(), place.server());
        let settings = format!(
            "[databases]\n* = host={} port={} user=bursar\n\
             [pgbouncer]\nlisten_addr = {}\nlisten_port = {}\nunix_socket_dir =\nauth_type = any\n\
             pool_mode = {mode}\ndefault_pool_size = 30\n",
            server.ip(),
            server.port(),
            address.ip(),
            address.port(),
        );
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&file, settings).unwrap();
        let mut command = Command::new("pgbouncer");
        // It refuses to run as root.
        if std::fs::metadata("/proc/self").unwrap().uid() == 0 {
            std::os::unix::fs::chown(&file, Some(NOBODY), None).unwrap();
            std::os::unix::process::CommandExt::uid(&mut command, NOBODY);
        }
        // Debian keeps it where only root's PATH finds it.
        #[expect(
            clippy::disallowed_methods,
            reason = "a program of the machine is found by its PATH"
        )]
        let path = format!("{}:/usr/sbin", std::env::var("PATH").unwrap());
        command.env("PATH", path).arg("--quiet").arg(file.path());
        let process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let process = process.expect("PgBouncer, which scripts/test installs");
        let pooler = Self { process, address };
        let since = Instant::now();
        while TcpStream::connect(address).is_err() {
            assert!(
                since.elapsed() < Duration::from_secs(20),
                "PgBouncer does not answer"
            );
            std::thread::sleep(Duration::from_millis(50));
        }
        pooler
    }
}

const NOBODY: u32 = 65_534;

impl Drop for Pooler {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

#[test]
fn a_pooler_of_sessions_is_as_good_as_the_server() {
    let mut place = Place::postgres();
    let pooler = Pooler::before(&place, "session");
    let direct = place.database.clone();
    place.database = place.with_hosts(&pooler.address.to_string());
    place.import(EVERY_RECORD);
    place.check();
    let through = place.export();
    place.database = direct;
    assert_eq!(through, place.export());
}

#[test]
fn a_pooler_of_transactions_is_refused_with_the_way_out() {
    for mode in ["transaction", "statement"] {
        let mut place = Place::postgres();
        place.import(EVERY_RECORD);
        let pooler = Pooler::before(&place, mode);
        place.database = place.with_hosts(&pooler.address.to_string());
        for command in [&["check"][..], &["serve", "--listen", "127.0.0.1:0"]] {
            let said = place.refused(command);
            assert!(said.contains("pool_mode = session"), "{mode}: {said}");
        }
    }
}
