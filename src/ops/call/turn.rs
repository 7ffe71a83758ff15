//! Whose turn it is: a call waits until its concurrency class lets it run (design §3).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{Mutex as Turn, OwnedMutexGuard};

use crate::tool::{Concurrency, PackageId, ToolName, ToolRef};

/// A package, or one tool of it.
type Key = (PackageId, Option<ToolName>);

/// The turns of one host.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    waiting: Mutex<HashMap<Key, Arc<Turn<()>>>>,
}

impl Turns {
    /// Waits for a turn, which lasts until the guard is dropped. A parallel call has none to wait for.
    pub(crate) async fn take(&self, tool: &ToolRef, concurrency: Concurrency) -> Option<OwnedMutexGuard<()>> {
        let key = match concurrency {
            Concurrency::Parallel => return None,
            Concurrency::OnePerTool => (tool.package.clone(), Some(tool.tool.clone())),
            Concurrency::OnePerPackage => (tool.package.clone(), None),
        };
        let turn = Arc::clone(self.waiting.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default());
        Some(turn.lock_owned().await)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn writers_of_a_package_go_one_by_one_and_reads_pass() {
        let turns = Turns::default();
        let tool = |name: &str| name.parse::<ToolRef>().expect("a reference");
        let held = turns.take(&tool("abc.d/write"), Concurrency::OnePerPackage).await;
        assert!(held.is_some());
        assert!(turns.take(&tool("abc.d/read"), Concurrency::Parallel).await.is_none());
        assert!(turns.take(&tool("abc.d/list"), Concurrency::OnePerTool).await.is_some());
        assert!(turns.take(&tool("other.d/write"), Concurrency::OnePerPackage).await.is_some());
        let other_writer = tool("abc.d/delete");
        let next = turns.take(&other_writer, Concurrency::OnePerPackage);
        tokio::pin!(next);
        let waits = std::future::poll_fn(|context| std::task::Poll::Ready(next.as_mut().poll(context).is_pending())).await;
        assert!(waits);
        drop(held);
        assert!(next.await.is_some());
    }
}
