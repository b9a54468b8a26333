//! The hooks' environment: a home, a project, transcripts and payloads in one temporary folder.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use plimsoll_testbed::generator::{self, Ending, GeneratorOptions, Layout, Truth};
use tempfile::TempDir;

/// Context window of the transcripts' model.
pub(crate) const WINDOW: u64 = 200_000;
/// Prompt size of the last response.
const PROMPT_TOKENS: u64 = 94_000;

/// A temporary home with all files in place, removed when dropped.
pub(crate) struct BenchEnv {
    folder: TempDir,
    /// One transcript per size, and one that ends in a trap.
    pub(crate) transcripts: Vec<GeneratedTranscript>,
}

pub(crate) struct GeneratedTranscript {
    pub(crate) label: &'static str,
    pub(crate) path: PathBuf,
    pub(crate) truth: Truth,
}

impl BenchEnv {
    /// Writes the configuration, the project and all transcripts.
    pub(crate) fn create() -> anyhow::Result<Self> {
        let folder = TempDir::new().context("could not make a temporary folder")?;
        let mut stage = Self { folder, transcripts: Vec::new() };
        stage.write("home/.config/plimsoll/config.yaml", "lines: {warn: 80}\n")?;
        stage.write("project/.plimsoll.yaml", "lines: {ceiling: 40}\n")?;
        stage.write("home/.claude/settings.json", CLIENT_SETTINGS)?;
        fs::create_dir_all(stage.path("tmp"))?;
        let whole = |size| GeneratorOptions {
            size,
            prompt_tokens: Some(PROMPT_TOKENS),
            ..GeneratorOptions::default()
        };
        let trap = GeneratorOptions {
            layout: Layout::Inline,
            ending: Ending::Trap(400),
            ..whole(800_000)
        };
        for (seed, (label, options)) in (1..).zip([
            ("100 KB", whole(100_000)),
            ("1 MB", whole(1_000_000)),
            ("10 MB", whole(10_000_000)),
            ("100 MB", whole(100_000_000)),
            ("200 MB", whole(200_000_000)),
            ("trap", trap),
        ]) {
            let transcript =
                stage.write_transcript(label, &GeneratorOptions { seed, ..options })?;
            stage.transcripts.push(transcript);
        }
        Ok(stage)
    }

    /// Returns the environment of every competitor.
    pub(crate) fn environment(&self) -> [(&'static str, PathBuf); 5] {
        [
            ("HOME", self.path("home")),
            ("XDG_CONFIG_HOME", self.path("home/.config")),
            ("CLAUDE_PROJECT_DIR", self.path("project")),
            ("TMPDIR", self.path("tmp")),
            ("PATH", PathBuf::from("/usr/local/bin:/usr/bin:/bin")),
        ]
    }

    /// Returns a path inside the stage.
    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns the transcript with this label.
    pub(crate) fn transcript_labelled(&self, label: &str) -> anyhow::Result<&GeneratedTranscript> {
        let found = self.transcripts.iter().find(|transcript| transcript.label == label);
        found.with_context(|| format!("no transcript of `{label}`"))
    }

    /// Writes the payload of `event` for a transcript and returns its path.
    pub(crate) fn payload(
        &self,
        event: Event,
        transcript: &GeneratedTranscript,
    ) -> anyhow::Result<PathBuf> {
        let common = format!(
            r#""session_id":"{}","transcript_path":"{}","cwd":"{}","prompt_id":"df476518-1c61-45c8-a169-abe62d915063","permission_mode":"default""#,
            transcript.truth.session_id,
            transcript.path.display(),
            self.path("project").display(),
        );
        let name = format!("payloads/{event:?}-{}.json", transcript.truth.session_id);
        self.write(&name, &format!("{{{common},{}}}\n", event.fields()))
    }

    fn write_transcript(
        &self,
        label: &'static str,
        options: &GeneratorOptions,
    ) -> anyhow::Result<GeneratedTranscript> {
        let folder = self.path("home/.claude/projects/-project");
        fs::create_dir_all(&folder)?;
        let draft = folder.join("draft.jsonl");
        let file = File::create(&draft)?;
        let truth = generator::write(BufWriter::new(&file), options)
            .with_context(|| format!("could not write the transcript of `{label}`"))?;
        file.sync_all()?;
        let path = folder.join(&truth.session_id).with_extension("jsonl");
        fs::rename(draft, &path)?;
        Ok(GeneratedTranscript { label, path, truth })
    }

    fn write(&self, name: &str, text: &str) -> anyhow::Result<PathBuf> {
        let path = self.path(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&path, text).with_context(|| format!("could not write `{}`", path.display()))?;
        Ok(path)
    }
}

/// Client events that are timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    PostToolUse,
    UserPromptSubmit,
    PreToolUse,
    PreCompact,
}

impl Event {
    /// Returns the fields that the client adds to the common ones, in its order.
    fn fields(self) -> &'static str {
        match self {
            Self::PostToolUse => {
                r#""effort":{"level":"medium"},"hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"ls -la && echo hi > a.txt","description":"List files"},"tool_response":{"stdout":"total 12\ndrwxr-xr-x 3 dev dev 4096 Nov 15 05:58 .\ndrwxr-xr-x 6 dev dev 4096 Nov 15 05:58 ..\ndrwxr-xr-x 7 dev dev 4096 Nov 15 05:58 .git","stderr":"","interrupted":false,"isImage":false,"noOutputExpected":false,"bashEditDiff":{"files":[{"filePath":"a.txt","hunks":[{"oldStart":0,"oldLines":0,"newStart":1,"newLines":1,"lines":["+hi"]}],"created":true}],"moreFiles":0,"changedFiles":["a.txt"]}},"tool_use_id":"toolu_692e6ddfa6e44f16a0a267ef","duration_ms":204"#
            }
            Self::UserPromptSubmit => {
                r#""hook_event_name":"UserPromptSubmit","prompt":"now make the failing test pass""#
            }
            Self::PreCompact => {
                r#""hook_event_name":"PreCompact","trigger":"auto","custom_instructions":"""#
            }
            Self::PreToolUse => {
                r#""effort":{"level":"medium"},"hook_event_name":"PreToolUse","tool_name":"Agent","tool_input":{"description":"Count files","prompt":"Count the files here","subagent_type":"general-purpose"},"tool_use_id":"toolu_86967324b19843e2b8d4ddf1""#
            }
        }
    }
}

const CLIENT_SETTINGS: &str = r#"{
  "model": "opus",
  "cleanupPeriodDays": 30,
  "autoCompactEnabled": true,
  "permissions": {"allow": ["Bash(cargo test:*)", "Read"], "deny": []},
  "env": {"EDITOR": "vi"}
}
"#;
