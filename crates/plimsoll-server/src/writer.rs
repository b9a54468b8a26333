//! Writes saves to the journal: many saves share one disk sync, and each request is answered after
//! it.
//!
//! A separate thread reads the journal into the store, in quiet moments or when a request needs it,
//! so that no save waits for an index.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use plimsoll_engine::paths::Paths;
use plimsoll_engine::saves;
use plimsoll_extract::save::{NewSave, Save};
use plimsoll_store::Store;
use tokio::sync::oneshot;

use crate::http::Problem;
use crate::live::{Live, News};
use crate::log::Log;
use crate::metrics::Metrics;

/// Handle of the writer thread.
#[derive(Debug)]
pub(crate) struct Writer {
    tasks: SyncSender<WriterTask>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

enum WriterTask {
    Write(Box<NewSave>, oneshot::Sender<Option<Save>>),
    Stop,
}

/// Maximum number of saves waiting to be written.
const MAX_QUEUED: usize = 4096;
/// Maximum number of saves per sync.
const MAX_BATCH: usize = 512;

/// Dependencies of the writer thread.
pub(crate) struct WriterDeps {
    pub(crate) paths: Paths,
    /// Store that the journal is read into.
    pub(crate) store: Store,
    pub(crate) live: Live,
    pub(crate) metrics: Metrics,
    pub(crate) log: Log,
}

impl Writer {
    /// Starts the writer thread and the indexer thread.
    pub(crate) fn start(desk: WriterDeps) -> std::io::Result<Self> {
        let (tasks, todo) = sync_channel(MAX_QUEUED);
        let (news, taken) = channel();
        let WriterDeps { paths, store, live, metrics, log } = desk;
        let (own_paths, own_log) = (paths.clone(), log.clone());
        let take_in = move || run_indexer(&own_paths, store, &taken, &own_log);
        thread::Builder::new().name("indexer".to_owned()).spawn(take_in)?;
        let pen = SaveWriter { paths, live, metrics, log, wake: news };
        let write = move || pen.run(&todo);
        let thread = thread::Builder::new().name("writer".to_owned()).spawn(write)?;
        Ok(Self { tasks, thread: Mutex::new(Some(thread)) })
    }

    /// Writes a save. It is on disk when this returns.
    pub(crate) async fn write(&self, save: NewSave) -> Result<Save, Problem> {
        let (done, kept) = oneshot::channel();
        let full = |_| Problem::unavailable("too many saves wait to be written");
        self.tasks.try_send(WriterTask::Write(Box::new(save), done)).map_err(full)?;
        let kept = kept.await.ok().flatten();
        kept.ok_or_else(|| Problem::internal("the save could not be written"))
    }

    /// Writes all waiting saves and stops the thread.
    pub(crate) fn finish(&self) {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread.filter(|_| self.tasks.send(WriterTask::Stop).is_ok()) {
            // A thread that panicked has nothing left to write.
            let _ = thread.join();
        }
    }
}

struct SaveWriter {
    paths: Paths,
    live: Live,
    metrics: Metrics,
    log: Log,
    /// Wakes the indexer thread.
    wake: Sender<()>,
}

impl SaveWriter {
    fn run(&self, todo: &Receiver<WriterTask>) {
        while let Ok(WriterTask::Write(save, done)) = todo.recv() {
            let (mut saves, mut waiting) = (vec![*save], vec![done]);
            let mut is_over = false;
            while saves.len() < MAX_BATCH && !is_over {
                match todo.try_recv() {
                    Ok(WriterTask::Write(save, done)) => {
                        saves.push(*save);
                        waiting.push(done);
                    }
                    Ok(WriterTask::Stop) => is_over = true,
                    Err(_) => break,
                }
            }
            self.write_batch(saves, waiting);
            if is_over {
                break;
            }
        }
    }

    fn write_batch(&self, new: Vec<NewSave>, waiting: Vec<oneshot::Sender<Option<Save>>>) {
        let kept = saves::keep(&self.paths, new, saves::PATIENTLY);
        if let Err(error) = &kept {
            self.log.message(&format!("could not write the journal of saves: {error}"));
        }
        let kept = kept.unwrap_or_default();
        self.metrics.saves.inc_by(kept.len() as u64);
        self.metrics.commits.inc();
        kept.iter().for_each(|save| self.live.send(|| News::saved(save)));
        let answers = kept.into_iter().map(Some).chain(std::iter::repeat(None));
        for (done, save) in waiting.into_iter().zip(answers) {
            // The client may have disconnected.
            let _ = done.send(save);
        }
        // Without an indexer, the next read request reads the journal.
        let _ = self.wake.send(());
    }
}

/// Reads new saves into the store once no save has arrived for `QUIET`, at the latest after
/// `LATEST`.
fn run_indexer(paths: &Paths, mut store: Store, news: &Receiver<()>, log: &Log) {
    const QUIET: Duration = Duration::from_millis(200);
    const LATEST: Duration = Duration::from_secs(5);
    lower_priority();
    while news.recv().is_ok() {
        let since = Instant::now();
        while since.elapsed() < LATEST {
            match news.recv_timeout(QUIET) {
                Ok(()) => {}
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
            }
        }
        if let Err(error) = saves::take_in(paths, &mut store) {
            log.message(&format!("could not take in the journal of saves: {error:#}"));
        }
    }
}

/// Lowers this thread's priority, because nothing waits for it.
fn lower_priority() {
    // Only Linux has a priority per thread.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::setpriority_process(None, 19);
}
