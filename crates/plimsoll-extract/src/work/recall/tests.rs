use super::*;
use crate::work::PlanStep;

/// A session with one compaction, and the texts before and after it.
#[derive(Default)]
struct Session {
    recall: Recall,
}

impl Session {
    fn said(mut self, text: &str) -> Self {
        self.record(WorkEvent::ModelText(text.into()));
        self
    }

    fn called(mut self, tool: ToolUse<'_>) -> Self {
        self.record(WorkEvent::ToolCall { call: "1", tool });
        self
    }

    fn ran(self, command: &str) -> Self {
        self.called(ToolUse::Shell { command: command.into() })
    }

    fn shown(mut self, text: &str) -> Self {
        self.recall.read_input(&ModelInput::Texts(vec![text.into()]));
        self
    }

    fn compacted(mut self, summary: &str, restore: &str) -> Self {
        assert_eq!(self.recall.begin_compaction(Some(1), None, restore.to_owned()), None);
        self.recall.read_input(&ModelInput::Summary(summary.into()));
        self
    }

    fn record(&mut self, act: WorkEvent<'_>) {
        let folder = Some("/home/ada/load_line".into());
        self.recall.read_record(&WorkRecord { folder, events: vec![act], ..WorkRecord::default() });
    }

    /// Checks the needed names, and where each was available.
    #[track_caller]
    fn needs(mut self, expected: &[(&str, &str)]) {
        let judgement = self.recall.finish().unwrap();
        let kept = |fact: &Fact| match (fact.in_summary, fact.in_restore) {
            (true, true) => "both",
            (true, false) => "summary",
            (false, true) => "restore",
            (false, false) => "neither",
        };
        let facts = judgement.facts.iter().map(|fact| (fact.name.as_str(), kept(fact)));
        assert_eq!(facts.collect::<Vec<_>>(), expected);
    }
}

#[test]
fn names_used_before_being_shown_again_are_needed() {
    Session::default()
        .shown("fn read_hull() in src/hull.rs, draught_of, waterLine, paintColour")
        .compacted("read_hull and draught_of are done", "src/hull.rs: read_hull, waterLine")
        .shown("paintColour = red")
        .said("I go on with read_hull, waterLine, paintColour, newName and draught_of.")
        .said("Again read_hull.")
        .called(ToolUse::Read {
            path: "/home/ada/load_line/src/hull.rs".into(),
            from: None,
            lines: None,
        })
        .needs(&[
            ("read_hull", "both"),
            ("waterLine", "restore"),
            ("draught_of", "summary"),
            ("src/hull.rs", "restore"),
        ]);
}

#[test]
fn names_count_only_as_whole_words() {
    Session::default()
        .said("readHull, commit 1a2b3c4d, see PROJ-12")
        .compacted("readHullTwice PROJ-123", "1a2b3c4d5e6f")
        .said("readHull of 1a2b3c4d for PROJ-12")
        .needs(&[("readHull", "neither"), ("1a2b3c4d", "restore"), ("PROJ-12", "neither")]);
}

#[test]
fn files_count_only_if_unambiguous() {
    Session::default()
        .shown("src/hull/mod.rs src/mast/mod.rs src/keel.rs")
        .compacted("mod.rs and keel.rs", "crates/app/src/hull/mod.rs")
        .called(ToolUse::Read { path: "src/hull/mod.rs".into(), from: None, lines: None })
        .called(ToolUse::Edit {
            path: "src/keel.rs".into(),
            old: Vec::new(),
            new: vec!["src/mast/mod.rs".into()],
        })
        .needs(&[("src/hull/mod.rs", "restore"), ("src/keel.rs", "summary")]);
}

#[test]
fn only_project_specific_commands_count() {
    Session::default()
        .ran("mise run lint --fix && git commit -m x && cargo test; make deploy-staging")
        .ran("git checkout feat/load-line && npm run build")
        .compacted("run `mise run  lint` first", "make deploy-staging")
        .shown("> npm run build")
        .ran("mise run lint; cargo test; git status; make deploy-staging; npm run build")
        .ran("git push origin feat/load-line")
        .needs(&[
            ("mise run lint", "summary"),
            ("make deploy-staging", "restore"),
            ("feat/load-line", "neither"),
        ]);
}

#[test]
fn irrelevant_names_are_not_counted() {
    Session::default()
        .shown("console.log in #2, load_line, hull_plan and docs/hull_plan.md, ghp_0123456789abcdefghijABCDEFGHIJ012345")
        .compacted("", "")
        .called(ToolUse::Plan(vec![PlanStep { text: "console.log of #2 in load_line".into(), done: false }]))
        .called(ToolUse::Write { path: "docs/hull_plan.md".into(), text: "hull_plan".into() })
        .said("hull_plan, ghp_0123456789abcdefghijABCDEFGHIJ012345")
        .needs(&[("docs/hull_plan.md", "neither")]);
}

#[test]
fn records_kept_by_the_client_are_in_view() {
    let mut recall = Recall::default();
    let record = |id: &[u8], text: &'static str| WorkRecord {
        id: Some(EntryId::new(id)),
        events: vec![WorkEvent::ModelText(text.into())],
        ..WorkRecord::default()
    };
    recall.read_record(&record(b"1", "readHull"));
    recall.read_record(&record(b"2", "waterLine"));
    recall.begin_compaction(None, Some(EntryId::new(b"2")), String::new());
    recall.read_record(&record(b"3", "readHull at the waterLine"));
    let judgement = recall.finish().unwrap();
    assert!(!judgement.has_summary);
    assert_eq!(judgement.facts.iter().map(|fact| &fact.name).collect::<Vec<_>>(), ["readHull"]);
}

#[test]
fn own_restores_show_nothing() {
    let restore = fence::fenced("src/hull.rs: readHull", "From afar.");
    Session::default()
        .said("readHull")
        .compacted("", &restore)
        .shown(&format!("SessionStart hook additional context: {restore}"))
        .said("readHull")
        .needs(&[("readHull", "restore")]);
}

#[test]
fn each_compaction_is_judged_by_the_work_until_the_next() {
    let mut session = Session::default().said("readHull waterLine").compacted("readHull", "");
    session = session.said("readHull");
    let first = session.recall.begin_compaction(Some(2), None, "waterLine".to_owned()).unwrap();
    assert_eq!(
        RecallCounts::of(&first.facts),
        RecallCounts { needed: 1, summary: 1, restore: 0, either: 1 }
    );
    session.said("waterLine, readHull").needs(&[("waterLine", "restore"), ("readHull", "neither")]);
}

#[test]
fn only_the_first_calls_after_a_compaction_count() {
    let mut session = Session::default().said("readHull waterLine").compacted("", "");
    for step in 0..HORIZON {
        session = session.ran(&format!("echo {step}"));
    }
    session.said("readHull").ran("echo waterLine").needs(&[("readHull", "neither")]);
}
