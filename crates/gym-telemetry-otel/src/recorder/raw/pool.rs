//! Memory for slots: blocks of one size that are never given back to the system.

use std::alloc::{Layout, alloc_zeroed, handle_alloc_error};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicPtr, Ordering};

use parking_lot::Mutex;

/// Size and alignment of a chunk: the address of a block tells the address of its chunk.
const CHUNK: usize = 64 * 1024;

/// A type whose zeroed memory is a valid free block.
///
/// # Safety
///
/// All bytes zero must be a valid value, and the type must be larger than [`ChunkHeader`] and not over-aligned.
pub(super) unsafe trait Block: Sized {
    /// Where a free block names the next one of its chain.
    fn next(&self) -> &AtomicPtr<Self>;
}

/// What a chunk begins with, in the place of its first block.
#[repr(C)]
struct ChunkHeader {
    owner: *const (),
}

/// Some free blocks, linked to each other.
pub(super) struct Chain<T> {
    pub head: *mut T,
    pub len: usize,
}

impl<T> Chain<T> {
    const EMPTY: Self = Self {
        head: std::ptr::null_mut(),
        len: 0,
    };
}

impl<T: Block> Chain<T> {
    /// Puts a block in front.
    ///
    /// # Safety
    ///
    /// The block must be free and belong to the caller.
    pub(super) unsafe fn push(&mut self, block: NonNull<T>) {
        // SAFETY: blocks are never unmapped.
        unsafe { block.as_ref() }
            .next()
            .store(self.head, Ordering::Relaxed);
        self.head = block.as_ptr();
        self.len += 1;
    }

    /// Takes the first block.
    pub(super) fn pop(&mut self) -> Option<NonNull<T>> {
        let block = NonNull::new(self.head)?;
        // SAFETY: blocks are never unmapped, and those of a chain are linked to each other.
        self.head = unsafe { block.as_ref() }.next().load(Ordering::Relaxed);
        self.len -= 1;
        Some(block)
    }

    fn split(&mut self, len: usize) -> Self {
        let mut taken = Self::EMPTY;
        let Some(first) = NonNull::new(self.head) else {
            return taken;
        };
        let mut last = first;
        for _ in 1..len {
            // SAFETY: as in `pop`.
            match NonNull::new(unsafe { last.as_ref() }.next().load(Ordering::Relaxed)) {
                Some(next) => last = next,
                None => break,
            }
        }
        // SAFETY: as in `pop`.
        let cut = unsafe { last.as_ref() }.next();
        taken.head = first.as_ptr();
        taken.len = len;
        self.head = cut.load(Ordering::Relaxed);
        self.len -= len;
        cut.store(std::ptr::null_mut(), Ordering::Relaxed);
        taken
    }
}

/// A bounded pool of blocks.
pub(super) struct Pool<T> {
    state: Mutex<State<T>>,
    /// How many blocks may be in circulation.
    max: usize,
    owner: AtomicPtr<()>,
}

struct State<T> {
    /// Free blocks that are in circulation.
    free: Vec<Chain<T>>,
    /// Blocks that are not in circulation.
    spare: Chain<T>,
    circulating: usize,
    chunks: Vec<NonNull<u8>>,
    /// How many blocks of the last chunk were never used.
    unused: usize,
}

// SAFETY: the blocks that the pool holds belong to nobody else, and it hands them out under its lock.
unsafe impl<T> Send for Pool<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Pool<T> {}

impl<T: Block> Pool<T> {
    const PER_CHUNK: usize = CHUNK / size_of::<T>() - 1;

    /// A pool of at most `max` blocks.
    pub(super) const fn new(max: usize) -> Self {
        Self {
            state: Mutex::new(State {
                free: Vec::new(),
                spare: Chain::EMPTY,
                circulating: 0,
                chunks: Vec::new(),
                unused: 0,
            }),
            max,
            owner: AtomicPtr::new(std::ptr::null_mut()),
        }
    }

    /// Says what can be found from each block that is taken from now on.
    pub(super) fn belong_to(&self, owner: *const ()) {
        self.owner.store(owner.cast_mut(), Ordering::Relaxed);
    }

    /// Takes about `wanted` blocks, fewer if there are no more. Says also whether the pool has grown, and to what.
    pub(super) fn take(&self, wanted: usize) -> (Chain<T>, Option<usize>) {
        let mut state = self.state.lock();
        if let Some(chain) = state.free.last_mut() {
            if chain.len > wanted {
                return (chain.split(wanted), None);
            }
            if let Some(chain) = state.free.pop() {
                return (chain, None);
            }
        }
        let mut chain = Chain::EMPTY;
        let wanted = wanted.min(self.max - state.circulating);
        for _ in 0..wanted {
            let block = self.fresh(&mut state);
            // SAFETY: it was not in circulation and is the caller's now.
            unsafe { chain.push(block) };
        }
        state.circulating += wanted;
        (chain, Some(state.circulating))
    }

    /// Gives blocks back.
    pub(super) fn give(&self, chain: Chain<T>) {
        if chain.len > 0 {
            self.state.lock().free.push(chain);
        }
    }

    /// Takes a block that is not in circulation, to replace one that is.
    pub(super) fn take_spare(&self) -> NonNull<T> {
        let mut state = self.state.lock();
        self.fresh(&mut state)
    }

    /// Gives back a block that was replaced.
    ///
    /// # Safety
    ///
    /// Nobody else may use it.
    pub(super) unsafe fn give_spare(&self, block: NonNull<T>) {
        // SAFETY: the caller gives it up.
        unsafe { self.state.lock().spare.push(block) };
    }

    /// All blocks that were ever handed out.
    pub(super) fn blocks(&self) -> Vec<NonNull<T>> {
        let state = self.state.lock();
        let count = |index| {
            let is_last = index + 1 == state.chunks.len();
            Self::PER_CHUNK - if is_last { state.unused } else { 0 }
        };
        let chunks = state.chunks.iter().enumerate();
        chunks
            .flat_map(|(index, chunk)| (0..count(index)).map(|block| Self::block(*chunk, block)))
            .collect()
    }

    fn fresh(&self, state: &mut State<T>) -> NonNull<T> {
        if let Some(block) = state.spare.pop() {
            return block;
        }
        if state.unused == 0 {
            state.chunks.push(self.chunk());
            state.unused = Self::PER_CHUNK;
        }
        let chunk = *state.chunks.last().expect("there is one by now");
        state.unused -= 1;
        Self::block(chunk, Self::PER_CHUNK - 1 - state.unused)
    }

    fn block(chunk: NonNull<u8>, index: usize) -> NonNull<T> {
        debug_assert!(index < Self::PER_CHUNK);
        // SAFETY: the header takes the place of the first block, so the chunk has one block more than that. Its start
        // is aligned to more than any block needs.
        unsafe { chunk.cast::<T>().add(index + 1) }
    }

    fn chunk(&self) -> NonNull<u8> {
        const {
            assert!(size_of::<T>() >= size_of::<ChunkHeader>());
            assert!(size_of::<T>().is_multiple_of(align_of::<T>()));
            assert!(align_of::<T>() >= align_of::<ChunkHeader>());
        }
        let layout = Layout::from_size_align(CHUNK, CHUNK).expect("both are one power of two");
        // SAFETY: the size is not zero.
        let memory = unsafe { alloc_zeroed(layout) };
        let Some(chunk) = NonNull::new(memory) else {
            handle_alloc_error(layout)
        };
        // SAFETY: the memory is new, aligned and large enough.
        unsafe {
            chunk.cast::<ChunkHeader>().write(ChunkHeader {
                owner: self.owner.load(Ordering::Relaxed),
            });
        }
        chunk
    }
}

/// What the pool of a block was told about its owner.
#[inline]
pub(super) fn owner_of<T: Block>(block: NonNull<T>) -> *const () {
    let header = block
        .as_ptr()
        .map_addr(|address| address & !(CHUNK - 1))
        .cast::<ChunkHeader>();
    // SAFETY: the block is in a chunk, which is aligned to its size, begins with a header and is never unmapped. A
    // pointer to a block is made from the pointer to its chunk and may be used for all of it.
    unsafe { (*header).owner }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[repr(C)]
    struct Small {
        next: AtomicPtr<Small>,
        rest: [u64; 3],
    }

    // SAFETY: zeros are a null pointer and numbers.
    unsafe impl Block for Small {
        fn next(&self) -> &AtomicPtr<Self> {
            &self.next
        }
    }

    fn drain(mut chain: Chain<Small>) -> Vec<NonNull<Small>> {
        let blocks: Vec<_> = std::iter::from_fn(|| chain.pop()).collect();
        assert_eq!(chain.len, 0);
        blocks
    }

    #[test]
    fn no_more_blocks_are_handed_out_than_allowed_and_all_differ() {
        let pool = Pool::<Small>::new(5_000);
        let mut all = Vec::new();
        loop {
            let (chain, _) = pool.take(64);
            if chain.len == 0 {
                break;
            }
            all.extend(drain(chain));
        }
        assert_eq!(all.len(), 5_000);
        assert_eq!(pool.blocks().len(), 5_000);
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 5_000);
    }

    #[test]
    fn what_was_given_back_is_handed_out_again_in_the_sizes_asked_for() {
        let pool = Pool::<Small>::new(10);
        let (chain, grown) = pool.take(100);
        assert_eq!((chain.len, grown), (10, Some(10)));
        pool.give(chain);
        let (few, grown) = pool.take(4);
        assert_eq!((few.len, grown), (4, None));
        let (rest, _) = pool.take(100);
        assert_eq!(rest.len, 6);
        assert_eq!(pool.take(1).0.len, 0);
        assert_eq!(drain(few).len() + drain(rest).len(), 10);
    }

    #[test]
    fn a_replaced_block_changes_nothing_about_the_limit_and_is_used_again() {
        let pool = Pool::<Small>::new(1);
        let mut chain = pool.take(1).0;
        let replaced = chain.pop().expect("there is one");
        let instead = pool.take_spare();
        assert_ne!(replaced, instead);
        // SAFETY: it came from the pool and nobody else knows it.
        unsafe { pool.give_spare(replaced) };
        assert_eq!(pool.take(1).0.len, 0);
        assert_eq!(pool.take_spare(), replaced);
    }

    #[test]
    fn each_block_knows_the_owner_of_its_pool() {
        let owner = 7_u8;
        let pool = Pool::<Small>::new(10_000);
        pool.belong_to((&raw const owner).cast());
        for block in drain(pool.take(10_000).0) {
            assert_eq!(owner_of(block), (&raw const owner).cast());
        }
    }
}
