//! A browser that is driven over WebDriver, a protocol of JSON over HTTP.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// A browser with one page; it ends with this value.
pub(crate) struct Browser {
    driver: Child,
    address: SocketAddr,
    session: String,
    /// The profile, gone with the browser.
    _profile: tempfile::TempDir,
}

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// The name under which an element is handed over.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

impl Browser {
    /// A browser that runs scripts.
    pub(crate) fn start() -> Self {
        Self::with(&json!({}), &[])
    }

    /// One that does not.
    pub(crate) fn without_scripts() -> Self {
        Self::with(&json!({"profile.managed_default_content_settings.javascript": 2}), &[])
    }

    /// One whose user likes it dark.
    pub(crate) fn dark() -> Self {
        Self::with(&json!({}), &["--blink-settings=preferredColorScheme=0"])
    }

    fn with(preferences: &Value, more: &[&str]) -> Self {
        let mut command = Command::new("chromedriver");
        command.arg("--port=0").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut driver =
            command.spawn().expect("chromedriver is missing: scripts/test installs it");
        let port = port(&mut driver);
        let profile = tempfile::tempdir().unwrap();
        let folder = format!("--user-data-dir={}", profile.path().display());
        let mut flags = FLAGS.to_vec();
        flags.extend_from_slice(more);
        flags.push(&folder);
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let mut browser = Self { driver, address, session: String::new(), _profile: profile };
        let wanted = json!({"capabilities": {"alwaysMatch": {
            "browserName": "chrome",
            // A page that was asked for by a click may still be on its way.
            "timeouts": {"implicit": 10_000},
            "goog:loggingPrefs": {"browser": "ALL"},
            "goog:chromeOptions": {"args": flags, "prefs": preferences},
        }}});
        let made = browser.post("/session", &wanted);
        browser.session = made["sessionId"].as_str().unwrap().to_owned();
        browser
    }

    /// Goes to a page.
    pub(crate) fn go(&self, url: &str) {
        self.ask("/url", &json!({"url": url}));
    }

    /// What a script gives back.
    pub(crate) fn run(&self, script: &str) -> Value {
        self.ask("/execute/sync", &json!({"script": script, "args": []}))
    }

    /// The element that a selector finds.
    pub(crate) fn find(&self, selector: &str) -> Element<'_> {
        let found = self.ask("/element", &json!({"using": "css selector", "value": selector}));
        Element { browser: self, id: found[ELEMENT].as_str().unwrap().to_owned() }
    }

    /// The text of what a selector finds, as it is seen.
    pub(crate) fn text(&self, selector: &str) -> String {
        loop {
            // The page may change between the two.
            let path = format!("/session/{}/element/{}/text", self.session, self.find(selector).id);
            match self.try_send("GET", &path, "").unwrap() {
                (_, told) if told.contains("stale element reference") => {}
                (head, told) => return value(&path, &head, &told).as_str().unwrap().to_owned(),
            }
        }
    }

    /// The element that has the focus, in a few words.
    pub(crate) fn focus(&self) -> String {
        let told = "const it = document.activeElement; return it.localName + ' ' + \
            (it.getAttribute('href') || it.name || it.id || it.className)";
        self.run(told).as_str().unwrap().to_owned()
    }

    /// Presses a key, wherever the focus is.
    pub(crate) fn press(&self, key: &str) {
        let actions = json!([{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]);
        let keyboard = json!({"type": "key", "id": "keyboard", "actions": actions});
        self.ask("/actions", &json!({"actions": [keyboard]}));
    }

    /// What the console says since it was last asked: errors, warnings and all else.
    pub(crate) fn console(&self) -> Vec<String> {
        let lines = self.ask("/se/log", &json!({"type": "browser"}));
        let lines = lines.as_array().unwrap().iter();
        lines.map(|line| format!("{} {}", line["level"], line["message"])).collect()
    }

    /// Waits until something is so.
    #[track_caller]
    pub(crate) fn wait(&self, what: &str, mut is_so: impl FnMut() -> bool) {
        let began = Instant::now();
        while !is_so() {
            assert!(began.elapsed() < PATIENCE, "it never came: {what}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// A picture of the page, `width` × `height`, as PNG.
    pub(crate) fn picture(&self, width: u32, height: u32) -> Vec<u8> {
        let size =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.tell("Emulation.setDeviceMetricsOverride", &size);
        let shot = self.tell("Page.captureScreenshot", &json!({"format": "png"}));
        base64(shot["data"].as_str().unwrap())
    }

    /// Tells the browser something in its own protocol.
    pub(crate) fn tell(&self, command: &str, params: &Value) -> Value {
        self.ask("/goog/cdp/execute", &json!({"cmd": command, "params": params}))
    }

    /// Sends a command to the browser's page.
    fn ask(&self, command: &str, body: &Value) -> Value {
        self.post(&format!("/session/{}{command}", self.session), body)
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        self.send("POST", path, &body.to_string())
    }

    fn send(&self, method: &str, path: &str, body: &str) -> Value {
        let (head, told) = self.try_send(method, path, body).unwrap();
        value(&format!("{method} {path}"), &head, &told)
    }

    /// The head and the body of an answer. The driver does not close a connection.
    fn try_send(&self, method: &str, path: &str, body: &str) -> io::Result<(String, String)> {
        let mut stream = TcpStream::connect(self.address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let (host, length) = (self.address, body.len());
        let head =
            format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {length}\r\n");
        stream
            .write_all(format!("{head}Content-Type: application/json\r\n\r\n{body}").as_bytes())?;
        let (mut answer, mut head) = (BufReader::new(stream), String::new());
        while !head.ends_with("\r\n\r\n") {
            let read = answer.read_line(&mut head)?;
            assert!(read > 0, "the driver has gone: {head}");
        }
        let lower = head.to_lowercase();
        let length = lower.split_once("content-length:").unwrap().1.lines().next().unwrap();
        let mut body = vec![0; length.trim().parse().unwrap()];
        answer.read_exact(&mut body)?;
        Ok((head, String::from_utf8(body).unwrap()))
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The browser ends with its session; it would outlive its driver.
        if !self.session.is_empty() {
            let _ = self.try_send("DELETE", &format!("/session/{}", self.session), "");
        }
        let _ = kill_process(Pid::from_child(&self.driver), Signal::TERM);
        let _ = self.driver.wait();
    }
}

/// What keeps a browser from talking to anybody, and from asking anything.
const FLAGS: [&str; 11] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--window-size=1280,900",
];

/// Where a driver listens, as it says itself.
fn port(driver: &mut Child) -> u16 {
    let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines();
    let said = lines.find_map(|line| {
        let line = line.unwrap();
        line.strip_suffix('.')?.rsplit_once("on port ")?.1.parse().ok()
    });
    // What it says later must not fill the pipe.
    std::thread::spawn(move || lines.for_each(drop));
    said.expect("chromedriver names its port")
}

/// An element of a page.
pub(crate) struct Element<'b> {
    browser: &'b Browser,
    id: String,
}

impl Element<'_> {
    pub(crate) fn click(&self) {
        self.browser.ask(&format!("/element/{}/click", self.id), &json!({}));
    }

    /// Types a text into it.
    pub(crate) fn enter(&self, text: &str) {
        self.browser.ask(&format!("/element/{}/value", self.id), &json!({"text": text}));
    }
}

/// What was answered to `what`, which must have come off.
fn value(what: &str, head: &str, told: &str) -> Value {
    let told: Value = serde_json::from_str(told).unwrap_or_else(|_| panic!("{what}: {head}{told}"));
    assert!(head.starts_with("HTTP/1.1 200"), "{what}: {told}");
    told["value"].clone()
}

fn base64(text: &str) -> Vec<u8> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let bytes: Vec<u8> = text.bytes().filter(|byte| *byte != b'=').collect();
    let block = |block: &[u8]| {
        let bits = block.iter().fold(0_u32, |bits, byte| bits << 6 | u32::from(digit(*byte)));
        let bits = bits << (6 * (4 - block.len()));
        bits.to_be_bytes()[1..block.len()].to_vec()
    };
    bytes.chunks(4).flat_map(block).collect()
}
