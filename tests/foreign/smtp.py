"""Sends mail by the real program to a foreign mail server, aiosmtpd: plain, STARTTLS and TLS, with a password and a
wrong one, and with an authority that is trusted and one that is not."""

import asyncio
import email
import email.policy
import json
import os
import pathlib
import signal
import socket
import ssl
import subprocess
import threading
import time

from aiosmtpd.smtp import SMTP, AuthResult


def certificate(folder):
    """An authority of our own, and a certificate of it for localhost."""
    run = lambda *args: subprocess.run(["openssl", *args], cwd=folder, check=True, capture_output=True)
    run("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out", "ca.pem", "-days", "2",
        "-subj", "/CN=test authority", "-addext", "basicConstraints=critical,CA:TRUE")
    run("req", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "csr.pem", "-subj", "/CN=localhost")
    (folder / "ext").write_text("subjectAltName=DNS:localhost\nbasicConstraints=CA:FALSE\n")
    run("x509", "-req", "-in", "csr.pem", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
        "-extfile", "ext", "-out", "cert.pem")


class Servers:
    """Mail servers on a loop of their own."""

    def __init__(self):
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()

    def start(self, make, tls=None):
        """Starts one; its port."""
        made = self.loop.create_server(make, "localhost", 0, family=socket.AF_INET, ssl=tls)
        server = asyncio.run_coroutine_threadsafe(made, self.loop).result(10)
        return server.sockets[0].getsockname()[1]


def main(folder):
    certificate(folder)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")

    class Box:
        def __init__(self):
            self.mails, self.tls = [], []  # whether STARTTLS came before each

        async def handle_DATA(self, server, session, envelope):
            self.mails.append((envelope.rcpt_tos, envelope.content))
            self.tls.append(session.ssl is not None)
            return "250 2.0.0 Ok: queued as 42"

    def authenticator(server, session, envelope, mechanism, data):
        return AuthResult(success=(data.login, data.password) == (b"club", b"p:w/\xc3\xa9"), handled=False)

    bursar = os.environ["BURSAR"]
    run = lambda *args: json.loads(subprocess.run(
        [bursar, "--database", f"sqlite:{folder}/bursar.db", *args, "--json"], check=True, capture_output=True, text=True
    ).stdout)
    organization = run("organization", "create", "--name", "Zürcher Ruderclub", "--kind", "independent",
                       "--contact-email", "kasse@example.org")["id"]
    target = ("--organization", organization, "--target-organization", organization)

    def send(url, *more):
        """Schedules a reminder, lets a worker run, and tells what became of its message."""
        reminder = run("reminder", "schedule", *target, "--at", "now", "--subject", "Beiträge", "--body", "Grüezi\n.\nMerci")["id"]
        worker = subprocess.Popen([bursar, "--database", f"sqlite:{folder}/bursar.db", "worker", "--smtp-url", url,
                                   "--log-level", "off", *more], stdout=subprocess.DEVNULL)
        try:
            for _ in range(200):
                time.sleep(0.1)
                messages = run("messages", "--organization", organization, "--reminder", reminder)
                if messages and messages[0]["detail"] and messages[0]["state"] != "sending":
                    return messages[0]
            raise SystemExit(f"{url}: no attempt was made")
        finally:
            worker.send_signal(signal.SIGTERM)
            assert worker.wait(20) == 0

    def expect(name, message, state, detail):
        ok = message["state"] == state and detail in (message["detail"] or "")
        print(f"{'ok' if ok else 'FAILED'}: {name}: {message['state']}, {message['detail']}")
        if not ok:
            raise SystemExit(1)

    ca = ("--smtp-ca", str(folder / "ca.pem"))
    password = "club:p%3Aw%2F%C3%A9@"
    plain, tls, starttls = Box(), Box(), Box()
    servers = Servers()
    loop = servers.loop
    ports = [
        servers.start(lambda: SMTP(plain, loop=loop)),
        servers.start(lambda: SMTP(tls, loop=loop), context),
        servers.start(lambda: SMTP(starttls, loop=loop, tls_context=context, require_starttls=True, auth_required=True,
                                   auth_require_tls=True, authenticator=authenticator)),
    ]
    expect("plain", send(f"smtp://127.0.0.1:{ports[0]}"), "delivered", "250 2.0.0 Ok: queued as 42")
    expect("TLS", send(f"smtps://localhost:{ports[1]}", *ca), "delivered", "queued as 42")
    expect("TLS of an unknown authority", send(f"smtps://localhost:{ports[1]}"), "queued", "certificate")
    starting = f"localhost:{ports[2]}?tls=required"
    expect("STARTTLS and a password", send(f"smtp://{password}{starting}", *ca), "delivered", "queued as 42")
    expect("a wrong password", send(f"smtp://club:no@{starting}", *ca), "queued", "535")
    expect("no password where one is needed", send(f"smtp://{starting}", *ca), "queued", "530")
    expect("STARTTLS that is not offered", send(f"smtp://localhost:{ports[0]}?tls=required", *ca), "queued", "STARTTLS")

    assert tls.mails and starttls.mails and all(starttls.tls), "nothing went in the clear"
    for recipients, content in plain.mails + tls.mails + starttls.mails:
        mail = email.message_from_bytes(content, policy=email.policy.default)
        assert recipients == ["kasse@example.org"] and mail["Subject"] == "Beiträge", mail["Subject"]
        assert str(mail["From"]).startswith("Zürcher Ruderclub <"), mail["From"]
        text = mail.get_body(("plain",)).get_content()
        text = text.replace("\r\n", "\n")
        assert "\n\nGrüezi\n.\nMerci\n\n" in text, text
        assert not any(part.defects for part in mail.walk())


main(pathlib.Path.cwd())
