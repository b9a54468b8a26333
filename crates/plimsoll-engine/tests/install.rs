//! Changes between a plan and its execution.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::Path;

use plimsoll_agents::DEFAULT;
use plimsoll_agents::install::{Scope, Wish};
use plimsoll_engine::install::{self, NotPurged, Order, Plan, Purge, Why};
use plimsoll_engine::world::World;

const WISH: Wish<'static> =
    Wish { program: "/p/plimsoll", client: None, status_line: true, compact_at: None };

fn world(home: &Path) -> World {
    let home = home.to_str().unwrap().to_owned();
    World::new(Box::new(move |name| (name == "HOME").then(|| home.clone()))).unwrap()
}

fn plan(world: &World) -> Plan {
    let project = Path::new("/nowhere");
    let order =
        Order { scope: Scope::User, project, wish: WISH, commands: false, paragraph: false };
    install::plan(world, DEFAULT, &order).unwrap()
}

fn removal(world: &World) -> Plan {
    install::plan_removal(world, DEFAULT, Scope::User, Path::new("/nowhere")).unwrap()
}

/// Lists the folder of the settings.
fn names(settings: &Path) -> Vec<String> {
    let entries = settings.parent().unwrap().read_dir().unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn a_file_that_was_changed_meanwhile_stays_as_it_was_changed() {
    let home = tempfile::tempdir().unwrap();
    let world = world(home.path());
    let settings = install::files(&world, DEFAULT, Scope::User, Path::new("/nowhere")).settings;
    fs::create_dir_all(settings.parent().unwrap()).unwrap();
    for (before, meanwhile) in [(Some("{}"), "{\"a\": 1}"), (None, "{}")] {
        let _ = fs::remove_file(&settings);
        if let Some(before) = before {
            fs::write(&settings, before).unwrap();
        }
        let plan = plan(&world);
        fs::write(&settings, meanwhile).unwrap();
        let failed = install::carry_out(&world, &plan).unwrap_err();
        assert!(matches!(failed.why, Why::Changed), "{failed:?}");
        assert_eq!(fs::read_to_string(&settings).unwrap(), meanwhile);
        assert_eq!(names(&settings).len(), 1, "nothing is left beside it");
        install::carry_out(&world, &removal(&world)).unwrap();
        assert_eq!(fs::read_to_string(&settings).unwrap(), meanwhile, "there is nothing to undo");
    }
}

#[test]
fn a_removal_spares_what_was_changed_meanwhile() {
    let home = tempfile::tempdir().unwrap();
    let world = world(home.path());
    install::carry_out(&world, &plan(&world)).unwrap();
    let settings = install::files(&world, DEFAULT, Scope::User, Path::new("/nowhere")).settings;
    let plan = removal(&world);
    fs::write(&settings, "{\"mine\": 1}").unwrap();
    let failed = install::carry_out(&world, &plan).unwrap_err();
    assert!(matches!(failed.why, Why::Changed), "{failed:?}");
    assert_eq!(fs::read_to_string(&settings).unwrap(), "{\"mine\": 1}");
}

#[test]
fn what_was_cut_off_after_the_record_was_written_is_done_by_the_next_call() {
    let home = tempfile::tempdir().unwrap();
    let world = world(home.path());
    let settings = install::files(&world, DEFAULT, Scope::User, Path::new("/nowhere")).settings;
    install::carry_out(&world, &plan(&world)).unwrap();
    // As if the call was killed before it wrote the file.
    fs::remove_dir_all(settings.parent().unwrap()).unwrap();
    install::carry_out(&world, &plan(&world)).unwrap();
    assert!(settings.exists());
    install::carry_out(&world, &removal(&world)).unwrap();
    assert!(!settings.parent().unwrap().exists());
}

#[test]
fn of_several_installations_at_once_all_are_remembered() {
    const PROJECTS: usize = 8;
    let home = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for number in 0..PROJECTS {
            let project = home.path().join(format!("project-{number}"));
            let home = home.path();
            scope.spawn(move || {
                let (scope, world) = (Scope::Local, world(home));
                let wish = WISH;
                let order =
                    Order { scope, project: &project, wish, commands: false, paragraph: false };
                let plan = install::plan(&world, DEFAULT, &order).unwrap();
                install::carry_out(&world, &plan).unwrap();
            });
        }
    });
    let world = world(home.path());
    let refused = Purge::check(&world.paths, &removal(&world)).unwrap_err();
    let NotPurged::StillInstalled { files, undo } = refused else { panic!("{refused:?}") };
    assert_eq!((files.len(), undo.len()), (PROJECTS, PROJECTS));
}
