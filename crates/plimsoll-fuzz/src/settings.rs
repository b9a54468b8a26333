//! A client's settings file and the user's instructions: installing and uninstalling restores every
//! byte.

use plimsoll_agents::install::{
    HookEntry, Inspection, Installed, Installer, Version, Wish, with_paragraph, without_paragraph,
};

use crate::sandbox::agent;

pub(crate) fn run(input: &[u8]) {
    let Some((choice, text)) = input.split_first() else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    let installer = agent().installer();
    check_install_round_trip(installer, text, &install_options(*choice));
    check_paragraph_round_trip(text, installer.paragraph());
    let _ = agent().client().settings(&[text]);
    let _ = installer.is_trusted(text, "/p".as_ref());
    let _ = installer.uninstall(text, None);
}

/// Decodes the install options from the first byte of an input.
fn install_options(choice: u8) -> Wish<'static> {
    Wish {
        program: ["/home/me/.local/bin/plimsoll", "/it's \"a b\"/plimsoll"]
            [usize::from(choice & 1)],
        client: (choice & 2 != 0).then_some(Version(2, 1, 197)),
        status_line: choice & 4 != 0,
        compact_at: (choice & 8 != 0).then_some(choice >> 4),
    }
}

fn check_install_round_trip(installer: &dyn Installer, text: &str, wish: &Wish<'_>) {
    let found = installer.inspect(text);
    let Ok(after) = installer.install(text, wish) else { return };
    let now = installer.inspect(&after).unwrap();
    assert!(now.has_ours(), "{after}");
    assert_eq!(
        installer.install(&after, wish).as_ref(),
        Ok(&after),
        "a second time changes nothing"
    );
    let found = found.unwrap();
    assert_eq!(foreign_hooks(&now), foreign_hooks(&found), "what is not ours stays");
    if found.has_ours() {
        return;
    }
    let installed = Installed { before: text, after: &after };
    assert_eq!(installer.uninstall(&after, Some(&installed)).as_deref(), Ok(text));
    let left = installer.inspect(&installer.uninstall(&after, None).unwrap()).unwrap();
    assert!(!left.has_ours(), "nothing of ours is left");
}

/// Returns the hooks that are not ours.
fn foreign_hooks(found: &Inspection) -> Vec<&HookEntry> {
    found.hooks.iter().filter(|hook| !hook.is_ours).collect()
}

fn check_paragraph_round_trip(text: &str, paragraph: &str) {
    let Ok(with) = with_paragraph(text, paragraph) else { return };
    assert_eq!(with_paragraph(&with, paragraph).as_ref(), Ok(&with));
    if !text.contains(plimsoll_agents::install::PARAGRAPH_BEGIN) {
        assert_eq!(without_paragraph(&with).as_deref(), Ok(text));
    }
}
