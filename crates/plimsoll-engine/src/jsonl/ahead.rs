//! Reading ahead: while one stretch of a file is looked at, a thread reads the next.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;

/// Where less is left to read, a thread takes longer than it saves.
pub(super) const MUCH: u64 = 4 << 20;

/// Room before the bytes of a stretch, for what is left of the one before.
pub(super) const ROOM: usize = 64 << 10;
const STEP: usize = 256 << 10;
/// How many stretches wait to be looked at.
const WAITING: usize = 2;

/// A file that is read ahead from some place to its end.
#[derive(Debug)]
pub(super) struct Ahead {
    stretches: Receiver<io::Result<Stretch>>,
    spent: Sender<Vec<u8>>,
}

/// The next bytes of a file, behind [`ROOM`].
#[derive(Debug)]
pub(super) struct Stretch {
    pub(super) bytes: Vec<u8>,
    /// Where they end.
    pub(super) to: usize,
}

impl Ahead {
    /// Begins to read a file of so many bytes. The thread ends with the file, or with this.
    pub(super) fn new(file: &File, offset: u64, len: u64) -> io::Result<Self> {
        let file = file.try_clone()?;
        let (sender, stretches) = sync_channel(WAITING);
        let (spent, returned) = channel();
        thread::Builder::new().spawn(move || read(&file, offset..len, &sender, &returned))?;
        Ok(Self { stretches, spent })
    }

    /// The next stretch; nothing at the end of the file.
    pub(super) fn next(&self) -> io::Result<Option<Stretch>> {
        self.stretches.recv().ok().transpose()
    }

    /// Gives back the bytes of a stretch that was looked at.
    pub(super) fn give_back(&self, bytes: Vec<u8>) {
        // Nobody needs them any more if the file has come to its end.
        let _ = self.spent.send(bytes);
    }
}

fn read(
    file: &File,
    mut range: std::ops::Range<u64>,
    sender: &SyncSender<io::Result<Stretch>>,
    returned: &Receiver<Vec<u8>>,
) {
    while !range.is_empty() {
        let bytes = returned.try_recv().ok().filter(|bytes| bytes.len() == ROOM + STEP);
        let mut bytes = bytes.unwrap_or_else(|| vec![0; ROOM + STEP]);
        let most = usize::try_from(range.end - range.start).map_or(STEP, |rest| rest.min(STEP));
        let stretch = match file.read_at(&mut bytes[ROOM..ROOM + most], range.start) {
            Ok(0) => return, // shrunk since it was opened
            Ok(read) => {
                range.start += read as u64;
                Ok(Stretch { bytes, to: ROOM + read })
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
        let is_last = stretch.is_err();
        if sender.send(stretch).is_err() || is_last {
            return;
        }
    }
}
