//! A plan as a workflow: one node per batch, checkpoints in between, and edges that connect them.

use std::fmt::Write as _;

use plimsoll_core::plan::{Piece, Plan, load};
use plimsoll_core::text::thousands;
use serde::{Serialize, Serializer};

/// Prompt of a checkpoint node.
pub const CHECKPOINT_PROMPT: &str = "Run /checkpoint to save progress";

/// A plan as a workflow. Its JSON is a promise to scripts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Workflow<'p> {
    /// Nodes by name, in execution order.
    #[serde(serialize_with = "by_name")]
    pub nodes: Vec<(String, WorkflowNode<'p>)>,
    pub edges: Vec<WorkflowEdge>,
}

/// One step of a workflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum WorkflowNode<'p> {
    /// A batch of independent pieces.
    Parallel { tasks: &'p [Piece] },
    /// A checkpoint.
    Single { prompt: &'static str },
}

/// A connection from a node to the next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WorkflowEdge {
    pub from: String,
    pub to: String,
}

fn by_name<S: Serializer>(nodes: &[(String, WorkflowNode<'_>)], to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(nodes.iter().map(|(name, node)| (name, node)))
}

impl<'p> Workflow<'p> {
    /// Builds the workflow of a plan. No checkpoint follows the last batch.
    pub fn of(plan: &'p Plan) -> Self {
        let mut nodes = Vec::new();
        for (at, tasks) in plan.batches.iter().enumerate() {
            if at > 0 {
                let checkpoint = WorkflowNode::Single { prompt: CHECKPOINT_PROMPT };
                nodes.push((format!("checkpoint_{}", at - 1), checkpoint));
            }
            nodes.push((format!("batch_{at}"), WorkflowNode::Parallel { tasks }));
        }
        let name = |at: usize| nodes.get(at).map(|(name, _): &(String, _)| name.clone());
        let edges = (0..).map_while(|at| Some(WorkflowEdge { from: name(at)?, to: name(at + 1)? }));
        Self { edges: edges.collect(), nodes }
    }

    /// Renders the workflow as a Mermaid flow chart.
    pub fn mermaid(&self) -> String {
        let mut text = String::from("flowchart TD\n");
        for (name, node) in &self.nodes {
            let _ = match node {
                WorkflowNode::Parallel { tasks } => {
                    writeln!(text, "  {name}[\"{}\"]", batch_label(name, tasks))
                }
                WorkflowNode::Single { prompt } => {
                    writeln!(text, "  {name}([\"{}\"])", label(prompt))
                }
            };
        }
        for WorkflowEdge { from, to } in &self.edges {
            let _ = writeln!(text, "  {from} --> {to}");
        }
        text
    }
}

fn batch_label(name: &str, pieces: &[Piece]) -> String {
    let head = format!("{name}: {} tokens", thousands(load(pieces)));
    let piece = |piece: &Piece| label(&format!("{} {}", piece.id, piece.description));
    let pieces = pieces.iter().map(piece);
    std::iter::once(head).chain(pieces).collect::<Vec<_>>().join("<br/>")
}

/// Returns the beginning of a text, escaped for Mermaid.
fn label(text: &str) -> String {
    const LONGEST: usize = 60;
    let line = text.lines().next().unwrap_or_default();
    let is_long = line.chars().count() > LONGEST;
    let mut label = String::new();
    for character in line.chars().take(LONGEST) {
        match character {
            '"' | '<' | '>' | '&' | '#' | '`' | ';' => {
                let _ = write!(label, "#{};", u32::from(character));
            }
            character if character.is_control() => {}
            character => label.push(character),
        }
    }
    if is_long { label + "…" } else { label }
}
