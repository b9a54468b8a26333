//! Messages and claims between machines. A message is delivered on its session's machine; the team
//! database only relays it.

use std::collections::BTreeSet;
use std::time::Duration;

use plimsoll_core::Millis;
use plimsoll_core::event::SessionId;
use plimsoll_core::settings::Team;
use plimsoll_engine::board::{self, Lasting};
use plimsoll_engine::log;
use plimsoll_engine::sessions;
use plimsoll_engine::world::{World, now};
use plimsoll_extract::board::{Message, PathClaim};
use plimsoll_store::postgres::{TeamMessage, WithOwner};

use super::connection::TeamConnection;

impl TeamConnection {
    /// Sends messages for sessions on other machines, and delivers messages for sessions here. A
    /// message that names a project is for a session of this machine, even if that session is no
    /// longer known.
    pub(super) async fn exchange_messages(&mut self, world: &World) -> anyhow::Result<()> {
        let posted = board::list(&world.paths)?;
        let elsewhere = posted.into_iter().filter(|it| it.taker.is_none()).map(|it| it.message);
        let elsewhere: Vec<Message> = elsewhere
            .filter(|message| message.project.is_none() && !self.is_here(world, message))
            .collect();
        if !elsewhere.is_empty() {
            let mail: Vec<TeamMessage> = elsewhere.iter().filter_map(outgoing).collect();
            self.database.post_messages(&self.machine.id, &mail).await?;
            // Removed after posting: a crash in between posts it twice, and the database stores it
            // once.
            for message in &elsewhere {
                board::remove(&world.paths, &message.to, std::slice::from_ref(&message.id))?;
            }
        }
        self.deliver(world).await
    }

    async fn deliver(&mut self, world: &World) -> anyhow::Result<()> {
        let now = now() as Millis;
        let mail = self.database.undelivered_messages(&self.machine.id, now).await?;
        let (mut done, mut put) = (Vec::new(), Vec::new());
        for TeamMessage { id, body, .. } in mail {
            // A body that cannot be parsed is marked as delivered, because it never will parse.
            if let Ok(message) = serde_json::from_str::<Message>(&body) {
                let message = Message { project: self.project(&message.to), ..message.sanitized() };
                board::deliver(&world.paths, &message, Lasting::Crash)?;
                put.push(message);
            }
            done.push(id);
        }
        if !done.is_empty() {
            self.database.mark_delivered(&done, now).await?;
        }
        if let Err(error) = board::show(world, &put) {
            let why = format!("team: a project does not show the board: {error}");
            log::write(&world.paths.log(), &why);
        }
        Ok(())
    }

    /// Returns whether a message's session is on this machine.
    fn is_here(&self, world: &World, message: &Message) -> bool {
        let known = self.store.session_overview(&message.to);
        known.is_ok_and(|known| known.is_some()) || sessions::find_one(world, &message.to).is_some()
    }

    /// Returns the project of a session on this machine. The sender's value is not used.
    fn project(&self, session: &SessionId) -> Option<String> {
        let known = self.store.session_overview(session).ok()??;
        Some(known.session.project?.to_string_lossy().into_owned())
    }

    /// Publishes this machine's claims, as far as they may be shared, and applies the claims of
    /// other machines here. Equal paths on two machines count as the same work.
    pub(super) async fn exchange_claims(
        &mut self,
        world: &World,
        team: &Team,
    ) -> anyhow::Result<()> {
        let now = now() as Millis;
        self.release_ended_claims(world).await?;
        let (mut own, foreign): (Vec<PathClaim>, Vec<PathClaim>) =
            board::claims(&world.paths)?.into_iter().partition(|claim| !is_foreign(claim));
        own.retain(|claim| team.sends(Some(&claim.path), &world.paths.home));
        self.database.put_claims(&self.machine.id, &own, now).await?;
        let theirs = self.database.claims(&self.machine.id, now).await?;
        let names: BTreeSet<String> = theirs.iter().map(remote_claim_key).collect();
        for gone in foreign.iter().filter(|claim| !names.contains(&claim_key(claim))) {
            // Already released by another process.
            let _ = board::release(&world.paths, &gone.path, Some(&gone.holder));
        }
        let is_known = |claim: &WithOwner<PathClaim>| {
            let same = |known: &PathClaim| claim_key(known) == remote_claim_key(claim);
            let known = foreign.iter().find(|known| same(known));
            known.is_some_and(|known| known.until.abs_diff(claim.value.until) < EXPIRY_TOLERANCE)
        };
        for claim in theirs.iter().filter(|claim| !is_known(claim)) {
            let left = Duration::from_millis(claim.value.until.saturating_sub(now).max(0) as u64);
            // Fails if a session here holds the path. `plimsoll team status` shows both claims.
            let _ = board::claim(
                &world.paths,
                claim.value.path.clone(),
                &local_holder_name(claim),
                left,
            );
        }
        Ok(())
    }

    /// Releases the claims of this machine that another machine has ended.
    async fn release_ended_claims(&mut self, world: &World) -> anyhow::Result<()> {
        let ended = self.database.ended_claims(&self.machine.id).await?;
        if ended.is_empty() {
            return Ok(());
        }
        let is_ended = |own: &PathClaim| ended.contains(&(own.path.clone(), own.since));
        for claim in board::claims(&world.paths)?.iter().filter(|own| is_ended(own)) {
            // Already released by another process.
            let _ = board::release(&world.paths, &claim.path, Some(&claim.holder));
        }
        Ok(())
    }
}

/// Splits the holder of a claim into name and host. `None` if the claim is held on this machine.
pub(super) fn remote_holder(claim: &PathClaim) -> Option<(&str, &str)> {
    claim.holder.rsplit_once(HOST_SEPARATOR)
}

fn outgoing(message: &Message) -> Option<TeamMessage> {
    Some(TeamMessage {
        id: message.id.to_string(),
        session: message.to.to_string(),
        body: serde_json::to_string(message).ok()?,
        expires: message.expires,
    })
}

/// Expiry times closer than this, in milliseconds, count as equal, because writing a claim takes
/// time.
const EXPIRY_TOLERANCE: u64 = 5_000;

/// Separates holder and host. No name of a session or person contains it.
const HOST_SEPARATOR: &str = " on ";

fn is_foreign(claim: &PathClaim) -> bool {
    claim.holder.contains(HOST_SEPARATOR)
}

/// Returns the local name of a holder on another machine.
fn local_holder_name(claim: &WithOwner<PathClaim>) -> String {
    format!("{}{HOST_SEPARATOR}{}", claim.value.holder, claim.host)
}

fn remote_claim_key(claim: &WithOwner<PathClaim>) -> String {
    format!("{} {}", claim.value.path.display(), local_holder_name(claim))
}

fn claim_key(claim: &PathClaim) -> String {
    format!("{} {}", claim.path.display(), claim.holder)
}
