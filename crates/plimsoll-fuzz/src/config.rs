//! Config files: valid settings apply, invalid ones are reported, and a project cannot change
//! settings that only the user may set.

use plimsoll_core::settings::Settings;
use plimsoll_core::settings::keys::{self, Setter};
use plimsoll_engine::settings::{ConfigFile, Layer};

use crate::sandbox::Sandbox;

pub(crate) fn run(input: &[u8]) {
    let sandbox = Sandbox::new();
    let path = sandbox.write_file("config.yaml", input);
    let defaults = Settings::default();
    for layer in [Layer::User, Layer::Project] {
        let mut settings = defaults.clone();
        let mut file = ConfigFile::read(&path, layer).unwrap();
        file.lay_over(&mut settings);
        assert!(settings.lines.save < settings.lines.restart, "{:?}", settings.lines);
        file.complaints.iter().for_each(|complaint| assert!(!complaint.to_string().is_empty()));
        if layer == Layer::Project {
            check_user_only_keys(&file);
            assert_eq!(settings.team, defaults.team, "a project sends nothing anywhere");
            assert_eq!(settings.reviewer, defaults.reviewer, "a project runs nothing");
        }
    }
}

fn check_user_only_keys(file: &ConfigFile) {
    let users = keys::KEYS.iter().filter(|key| key.setter == Setter::User);
    users.for_each(|key| assert!(file.place(key.name).is_none(), "{}", key.name));
}
