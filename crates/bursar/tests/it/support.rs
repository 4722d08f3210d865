//! The real program, run in a folder of its own on a database of its own.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use bursar_domain::Timestamp;
use bursar_domain::ids::{GroupId, IdSource, MemberId, OrganizationId};
use bursar_testing::{Engine, seed};
use serde_json::Value;

/// The program under test.
pub(crate) const BURSAR: &str = env!("CARGO_BIN_EXE_bursar");

/// A bundle with every type of record.
pub(crate) const EVERY_RECORD: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/every-record.ndjson");

/// Longer than anything here takes, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// How a run of the program ended.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// A folder and a database, with the program to run on them.
pub(crate) struct Place(bursar_testing::Place);

impl std::ops::Deref for Place {
    type Target = bursar_testing::Place;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl std::ops::DerefMut for Place {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl Place {
    pub(crate) fn new(engine: Engine) -> Self {
        Self(bursar_testing::Place::new(engine))
    }

    pub(crate) fn sqlite() -> Self {
        Self::new(Engine::Sqlite)
    }

    pub(crate) fn postgres() -> Self {
        Self::new(Engine::Postgres)
    }

    /// A command on this database.
    pub(crate) fn command<S: AsRef<OsStr>>(&self, args: &[S]) -> Command {
        let mut command = bursar(self.folder.path());
        command.arg("--database").arg(&self.database).args(args);
        command
    }

    pub(crate) fn run<S: AsRef<OsStr>>(&self, args: &[S]) -> Done {
        finish(&mut self.command(args))
    }

    /// Runs a command that must succeed without a word on standard error; what it printed.
    #[track_caller]
    pub(crate) fn ok<S: AsRef<OsStr>>(&self, args: &[S]) -> String {
        self.run(args).succeeded()
    }

    /// Runs a command with `--json` that must succeed; what it printed, which is one line.
    #[track_caller]
    pub(crate) fn json<S: AsRef<OsStr>>(&self, args: &[S]) -> Value {
        let printed = finish(self.command(args).arg("--json")).succeeded();
        assert_eq!(printed.lines().count(), 1, "{printed}");
        serde_json::from_str(&printed).unwrap()
    }

    /// Runs a command that must fail; its one line on standard error.
    #[track_caller]
    pub(crate) fn refused<S: AsRef<OsStr>>(&self, args: &[S]) -> String {
        self.run(args).failed()
    }

    #[track_caller]
    pub(crate) fn import(&self, bundle: impl AsRef<Path>) -> String {
        self.ok(&[OsStr::new("import"), bundle.as_ref().as_os_str()])
    }

    #[track_caller]
    pub(crate) fn export(&self) -> String {
        self.ok(&["export"])
    }

    /// Proves the data, and that the program may be started again.
    #[track_caller]
    pub(crate) fn check(&self) {
        let printed = self.ok(&["check"]);
        assert!(printed.contains("nothing is broken"), "{printed}");
    }
}

impl Done {
    #[track_caller]
    pub(crate) fn succeeded(self) -> String {
        assert_eq!(
            (self.code, self.stderr.as_str()),
            (Some(0), ""),
            "{}",
            self.stdout
        );
        self.stdout
    }

    /// An exit code of a command that failed, nothing on standard output, one line on standard error.
    #[track_caller]
    pub(crate) fn failed(self) -> String {
        assert!(
            matches!(self.code, Some(1 | 3 | 4 | 75)) && self.stdout.is_empty(),
            "{self:?}"
        );
        self.one_line()
    }

    /// The one line on standard error, without the program's name.
    #[track_caller]
    pub(crate) fn one_line(&self) -> String {
        let said = self
            .stderr
            .strip_prefix("bursar: ")
            .and_then(|s| s.strip_suffix('\n'));
        let said = said.unwrap_or_else(|| panic!("{:?}", self.stderr));
        assert!(!said.contains('\n') && !said.contains("panicked"), "{said}");
        said.to_owned()
    }
}

/// Runs a test on each engine.
pub(crate) fn both_engines(test: impl Fn(&Place)) {
    for engine in Engine::BOTH {
        test(&Place::new(engine));
    }
}

/// The program without the environment of whoever runs the tests, and without a limit on time. It asks for no
/// confirmation.
pub(crate) fn bursar(folder: &Path) -> Command {
    let mut command = Command::new(BURSAR);
    command
        .current_dir(folder)
        .env_clear()
        .env("BURSAR_YES", "1")
        .stdin(Stdio::null());
    command
}

/// The variables that give a program another time on the wall, such as `+3d` or `@2028-02-29 12:00:00` in UTC; the
/// monotonic clock is left as it is.
pub(crate) fn other_time(when: &str) -> [(&'static str, String); 5] {
    let folders = std::fs::read_dir("/usr/lib")
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let found = folders
        .map(|folder| folder.join("faketime/libfaketime.so.1"))
        .find(|library| library.exists());
    let library = found.expect("install faketime, or run scripts/test, which does");
    [
        ("LD_PRELOAD", library.to_str().unwrap().to_owned()),
        ("FAKETIME", when.to_owned()),
        ("FAKETIME_DONT_FAKE_MONOTONIC", "1".to_owned()),
        ("DONT_FAKE_MONOTONIC", "1".to_owned()),
        ("TZ", "UTC".to_owned()),
    ]
}

/// Runs a command to its end; one that does not come to it is killed and fails the test.
#[track_caller]
pub(crate) fn finish(command: &mut Command) -> Done {
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let pid = child.id();
    let waiter = std::thread::spawn(move || child.wait_with_output());
    let since = Instant::now();
    while !waiter.is_finished() {
        if since.elapsed() > PATIENCE {
            kill(pid);
            panic!("{command:?} did not end in {PATIENCE:?}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    done(waiter.join().unwrap().unwrap())
}

pub(crate) fn done(output: Output) -> Done {
    Done {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Ends a process that the test started, at once.
pub(crate) fn kill(pid: u32) {
    let killed = Command::new("kill").args(["-KILL", &pid.to_string()]).status();
    assert!(killed.unwrap().success());
}

/// One organization with one group, and a bundle of it with this many members.
pub(crate) struct Roster {
    pub(crate) organization: OrganizationId,
    pub(crate) group: GroupId,
    pub(crate) text: String,
}

pub(crate) fn roster(members: usize) -> Roster {
    let mut ids = IdSource::seeded(seed());
    let at = Timestamp::from_micros(1_735_689_600_000_000);
    let (organization, group): (OrganizationId, GroupId) = (ids.next(at), ids.next(at));
    let mut text = format!(
        "{{\"type\":\"organization\",\"id\":\"{organization}\",\"name\":\"Rowers\",\"kind\":\"independent\"}}\n\
         {{\"type\":\"group\",\"id\":\"{group}\",\"organizationId\":\"{organization}\",\"name\":\"All\"}}\n"
    );
    for n in 0..members {
        let id: MemberId = ids.next(at);
        let _ = writeln!(
            text,
            r#"{{"type":"member","id":"{id}","organizationId":"{organization}","firstName":"Ada","lastName":"Larsen","email":"m{n}@example.org","groups":["{group}"]}}"#
        );
    }
    Roster {
        organization,
        group,
        text,
    }
}

/// A key that seals stored secrets, for all servers and commands of this test program.
pub(crate) fn secret_key_file() -> &'static str {
    static FILE: OnceLock<tempfile::TempPath> = OnceLock::new();
    let file = FILE.get_or_init(|| {
        let file = tempfile::NamedTempFile::new().unwrap().into_temp_path();
        std::fs::write(&file, "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n").unwrap();
        file
    });
    file.to_str().unwrap()
}
