//! How many workers there are, and in how many processes.

use std::any::Any;

use timely::communication::{
    AllocatorBuilder, Hooks,
    allocator::{ProcessBuilder, zero_copy::initialize::initialize_networking_from_sockets},
};

use super::Error;
use crate::connect::peers::{self, Cluster};

/// How the workers are laid out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Worker threads of each process.
    pub workers: usize,
    /// The processes that work together, if there are several.
    pub cluster: Option<Cluster>,
}

impl From<usize> for Layout {
    /// So many threads in one process.
    fn from(workers: usize) -> Self {
        Self { workers, cluster: None }
    }
}

impl Layout {
    /// How many processes work together.
    pub fn n_processes(&self) -> usize {
        self.cluster.as_ref().map_or(1, |cluster| cluster.hosts.len())
    }

    /// Which of them this is, from 0. The first one leads: it alone writes the logs of the lake's tables.
    pub fn process(&self) -> usize {
        self.cluster.as_ref().map_or(0, |cluster| cluster.process)
    }

    /// What timely's workers are made of: channels in this process, and connections to the others.
    pub(super) fn allocators(&self) -> Result<(Vec<AllocatorBuilder>, Box<dyn Any + Send>), Error> {
        let (hooks, n_workers) = (Hooks::default(), self.workers.max(1));
        let inner = ProcessBuilder::new_typed_vector(n_workers, hooks.refill.clone(), None);
        let Some(cluster) = self.cluster.as_ref().filter(|cluster| cluster.hosts.len() > 1) else {
            return Ok((inner.into_iter().map(AllocatorBuilder::Process).collect(), Box::new(())));
        };
        let streams = peers::connect(cluster)?;
        let (builders, guard) = initialize_networking_from_sockets(inner, streams, cluster.process, n_workers, hooks)
            .map_err(|e| Error::Start(e.to_string()))?;
        Ok((builders.into_iter().map(AllocatorBuilder::Tcp).collect(), Box::new(guard)))
    }
}
