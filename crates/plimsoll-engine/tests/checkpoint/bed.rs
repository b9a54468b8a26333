//! A home and a project to make checkpoints in.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use plimsoll_agents::DEFAULT;
use plimsoll_core::Millis;
use plimsoll_core::checkpoint::Occasion;
use plimsoll_core::event::SessionId;
use plimsoll_engine::checkpoint::{Draft, Listed, Place, Sealed, index, list, seal};
use plimsoll_engine::world::World;
use plimsoll_extract::checkpoint::SECTIONS;

/// Creation time of drafts.
pub(crate) const NOW: Millis = 1_794_722_294_946;

pub(crate) struct Bed {
    /// Folder of the whole test.
    root: tempfile::TempDir,
    pub(crate) place: Place,
}

impl Bed {
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let place = place(root.path(), "project");
        fs::create_dir_all(&place.project).unwrap();
        fs::create_dir_all(root.path().join("home")).unwrap();
        Self { root, place }
    }

    pub(crate) fn root(&self) -> &Path {
        self.root.path()
    }

    /// Returns the folder of the checkpoints.
    pub(crate) fn folder(&self) -> PathBuf {
        self.place.path()
    }

    pub(crate) fn seal(&self, session: &str) -> Sealed {
        seal(&self.place, &draft(session, NOW)).unwrap()
    }

    pub(crate) fn seal_at(&self, session: &str, created: Millis) -> Sealed {
        seal(&self.place, &draft(session, created)).unwrap()
    }

    pub(crate) fn list(&self) -> Vec<Listed> {
        list(&self.place).unwrap()
    }

    pub(crate) fn indexed(&self) -> Vec<index::Entry> {
        index::entries(&self.place)
    }

    /// Checks the invariants: listed checkpoints are intact and ours, indexed ones exist, and the
    /// link points to one of them.
    #[track_caller]
    pub(crate) fn check(&self) {
        let listed = self.list();
        for listed in &listed {
            assert!(listed.is_own(), "torn: {listed:?}");
        }
        let ids: BTreeSet<&str> = listed.iter().map(|listed| listed.id.as_str()).collect();
        if self.place.index.exists() {
            let text = fs::read_to_string(&self.place.index).unwrap();
            serde_json::from_str::<serde_json::Value>(&text).expect("the index is broken");
        }
        for entry in self.indexed() {
            assert!(ids.contains(&*entry.id) && entry.verified, "a phantom: {entry:?}");
        }
        if let Ok(target) = fs::read_link(self.folder().join("latest.md")) {
            let stem = target.file_stem().unwrap().to_str().unwrap().to_owned();
            assert!(ids.contains(&*stem), "{target:?}");
        }
        let iterations =
            listed.iter().map(|listed| listed.verdict.meta.as_ref().unwrap().iteration);
        assert_eq!(iterations.collect::<BTreeSet<_>>().len(), listed.len(), "given away twice");
    }

    /// Returns temporary files that were left over.
    pub(crate) fn litter(&self) -> Vec<PathBuf> {
        let mut found = all_under(self.root());
        found.retain(|path| path.extension().is_some_and(|ending| ending == "tmp"));
        found
    }
}

/// Creates the environment of a user whose home is below `root`.
pub(crate) fn world(root: &Path) -> World {
    let home = root.join("home").to_str().unwrap().to_owned();
    World::new(Box::new(move |name| (name == "HOME").then(|| home.clone()))).unwrap()
}

/// Creates the place of a project below `root`.
pub(crate) fn place(root: &Path, project: &str) -> Place {
    let place = Place::of(&world(root), DEFAULT, root.join(project));
    Place { patience: Duration::from_secs(100), ..place }
}

pub(crate) fn draft(session: &str, created: Millis) -> Draft<'static> {
    Draft {
        session: SessionId::new(session).unwrap(),
        occasion: Occasion::Auto,
        created,
        partial: false,
        restored: None,
        agent: DEFAULT.id().to_string(),
        model: None,
        used: Some(120_000),
        window: Some(200_000),
        git: None,
        transcript: None,
        body: body().into(),
    }
}

pub(crate) fn body() -> String {
    SECTIONS.iter().map(|name| format!("## {name}\n- [a.rs:1] - something\n\n")).collect()
}

/// Lists every file and folder below `folder`, without following symbolic links.
pub(crate) fn all_under(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in folder.read_dir().unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            found.extend(all_under(&entry.path()));
        }
        found.push(entry.path());
    }
    found
}
