//! Where the bytes of an element lie: loops and lists over blocks, joined and folded as far as they go when the
//! datatype is made, so that packing walks the fewest and longest blocks, and any byte of the packed data is found in
//! the depth of the tree.

use std::sync::Arc;

/// Lists of at most this many blocks are merged into the list that they stand in; longer ones are shared, so that
/// nesting never multiplies what is kept.
const MERGED: usize = 16;

/// Elements of at most so many blocks are copied block by block.
const GRID_BLOCKS: usize = 64;
/// When the blocks have no more bytes than this on average: longer ones are copied as fast one after the other.
const GRID_BYTES: usize = 64;

/// Blocks of a list that is not merged are cut up into pieces of one length when those are not shorter than this, ...
const LEAST_PIECE: usize = 4;
/// ... and on average at most so many per block.
const MOST_PIECES: usize = 4;

/// Blocks of memory in the order of the packed data, relative to where the node is placed.
#[derive(Clone, Debug)]
pub(super) enum LayoutNode {
    /// So many bytes in a row.
    Block(usize),
    /// The same again and again.
    Loop(Arc<Loop>),
    /// Blocks of one length.
    Blocks(Arc<Blocks>),
    /// Blocks of several lengths.
    Runs(Arc<Runs>),
    /// Anything one after the other.
    Parts(Arc<Parts>),
}

#[derive(Debug)]
pub(super) struct Loop {
    pub count: usize,
    /// Bytes from one to the next.
    pub stride: isize,
    pub body: LayoutNode,
}

#[derive(Debug)]
pub(super) struct Blocks {
    /// Of each.
    pub bytes: usize,
    pub at: Box<[isize]>,
}

#[derive(Debug)]
pub(super) struct Runs {
    /// Where each block starts in the packed data, and where the last ends.
    pub starts: Box<[usize]>,
    pub at: Box<[isize]>,
}

#[derive(Debug)]
pub(super) struct Parts {
    /// As in `Runs`.
    pub starts: Box<[usize]>,
    pub parts: Box<[Placed]>,
    /// Of all parts.
    pub blocks: usize,
}

/// A node and where it lies.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub at: isize,
    pub node: LayoutNode,
}

/// Where a walk through the blocks takes them.
pub(super) trait BlockSink: Sized {
    /// Bytes that it still takes.
    fn left(&self) -> usize;
    /// Takes a block of at most `left` bytes.
    fn block(&mut self, address: *mut u8, bytes: usize);
    /// Takes `count` blocks that lie `stride` apart; all of them together are at most `left` bytes.
    fn strided(&mut self, address: *mut u8, count: usize, stride: isize, bytes: usize) {
        for i in 0..count as isize {
            if self.left() == 0 {
                break;
            }
            self.block(address.wrapping_offset(i * stride), bytes);
        }
    }
    /// Takes blocks of one length; all of them together are at most `left` bytes.
    fn scattered(&mut self, address: *mut u8, at: &[isize], bytes: usize) {
        for &at in at {
            if self.left() == 0 {
                break;
            }
            self.block(address.wrapping_offset(at), bytes);
        }
    }
    /// Takes `count` elements that lie `stride` apart, of which each has many short blocks; all of them together are at
    /// most `left` bytes. The blocks of several elements may be taken in another order.
    fn grid(&mut self, address: *mut u8, count: usize, stride: isize, body: &LayoutNode) {
        for i in 0..count as isize {
            if self.left() == 0 {
                break;
            }
            body.walk(address.wrapping_offset(i * stride), 0, self);
        }
    }
}

impl LayoutNode {
    /// Bytes of data.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Block(bytes) => *bytes,
            Self::Loop(body) => body.count * body.body.size(),
            Self::Blocks(blocks) => blocks.bytes * blocks.at.len(),
            Self::Runs(runs) => runs.starts[runs.at.len()],
            Self::Parts(parts) => parts.starts[parts.parts.len()],
        }
    }

    /// A loop over blocks, and their bytes.
    pub(super) fn of_blocks(&self) -> Option<(&Loop, usize)> {
        match self {
            Self::Loop(inner) => match inner.body {
                Self::Block(bytes) => Some((inner, bytes)),
                _ => None,
            },
            _ => None,
        }
    }

    /// Blocks that a walk comes to.
    fn blocks(&self) -> usize {
        match self {
            Self::Block(_) => 1,
            Self::Loop(inner) => inner.count.saturating_mul(inner.body.blocks()),
            Self::Blocks(blocks) => blocks.at.len(),
            Self::Runs(runs) => runs.at.len(),
            Self::Parts(parts) => parts.blocks,
        }
    }

    /// Calls `each` with all blocks in order: where they lie, where they start in the packed data, their bytes. Counted
    /// from `at` and `start` on.
    pub(super) fn each_block(&self, at: isize, start: usize, each: &mut impl FnMut(isize, usize, usize)) {
        let place = |more: isize| at.wrapping_add(more);
        match self {
            Self::Block(bytes) => each(at, start, *bytes),
            Self::Loop(inner) => {
                let size = inner.body.size();
                for i in 0..inner.count {
                    let more = inner.stride.wrapping_mul(i as isize);
                    inner.body.each_block(place(more), start + i * size, each);
                }
            }
            Self::Blocks(blocks) => {
                for (i, &more) in blocks.at.iter().enumerate() {
                    each(place(more), start + i * blocks.bytes, blocks.bytes);
                }
            }
            Self::Runs(runs) => {
                for (&more, ends) in runs.at.iter().zip(runs.starts.windows(2)) {
                    each(place(more), start + ends[0], ends[1] - ends[0]);
                }
            }
            Self::Parts(parts) => {
                for (part, &before) in parts.parts.iter().zip(&parts.starts) {
                    part.node.each_block(place(part.at), start + before, each);
                }
            }
        }
    }

    /// Many of these, `stride` apart, are better copied block by block than element by element: their blocks are short,
    /// and the elements are few blocks each or woven into one another (as in a transposition).
    fn is_grid(&self, stride: isize) -> bool {
        let woven = match self {
            Self::Loop(inner) => inner.stride.unsigned_abs() > stride.unsigned_abs(),
            _ => false,
        };
        let blocks = self.blocks();
        (woven || blocks <= GRID_BLOCKS) && self.size() <= blocks.saturating_mul(GRID_BYTES)
    }

    /// Gives the sink the blocks from byte `skip` of the packed data on, until it is full. `base` is where the node
    /// lies.
    pub(super) fn walk<S: BlockSink>(&self, base: *mut u8, skip: usize, sink: &mut S) {
        match self {
            Self::Block(bytes) => {
                let bytes = (bytes - skip).min(sink.left());
                sink.block(base.wrapping_add(skip), bytes);
            }
            Self::Loop(inner) => walk_loop(inner.count, inner.stride, &inner.body, base, skip, sink),
            Self::Blocks(blocks) => walk_blocks(blocks, base, skip, sink),
            Self::Runs(runs) => walk_runs(runs, base, skip, sink),
            Self::Parts(parts) => {
                let mut i = seek(&parts.starts, skip);
                let mut skip = skip - parts.starts[i];
                while i < parts.parts.len() && sink.left() > 0 {
                    let part = &parts.parts[i];
                    part.node.walk(base.wrapping_offset(part.at), skip, sink);
                    skip = 0;
                    i += 1;
                }
            }
        }
    }

    fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Block(a), Self::Block(b)) => a == b,
            (Self::Loop(a), Self::Loop(b)) => {
                Arc::ptr_eq(a, b) || a.count == b.count && a.stride == b.stride && a.body.is(&b.body)
            }
            (Self::Blocks(a), Self::Blocks(b)) => Arc::ptr_eq(a, b),
            (Self::Runs(a), Self::Runs(b)) => Arc::ptr_eq(a, b),
            (Self::Parts(a), Self::Parts(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}

/// The entry in which byte `skip` of the packed data lies.
#[inline]
fn seek(starts: &[usize], skip: usize) -> usize {
    if skip == 0 { 0 } else { starts.partition_point(|&start| start <= skip) - 1 }
}

/// `count` times the body, `stride` apart.
pub(super) fn walk_loop<S: BlockSink>(
    count: usize,
    stride: isize,
    body: &LayoutNode,
    base: *mut u8,
    skip: usize,
    sink: &mut S,
) {
    let size = body.size();
    let (mut i, mut skip) = if skip < size { (0, skip) } else { (skip / size, skip % size) };
    let place = |i: usize| base.wrapping_offset(stride.wrapping_mul(i as isize));
    let LayoutNode::Block(bytes) = *body else {
        let grid = count - i > 1 && body.is_grid(stride);
        if grid && skip == 0 {
            let whole = (sink.left() / size).min(count - i);
            sink.grid(place(i), whole, stride, body);
            i += whole;
        }
        while i < count && sink.left() > 0 {
            body.walk(place(i), skip, sink);
            skip = 0;
            i += 1;
            if grid {
                let whole = (sink.left() / size).min(count - i);
                sink.grid(place(i), whole, stride, body);
                i += whole;
            }
        }
        return;
    };
    if skip > 0 {
        let rest = (bytes - skip).min(sink.left());
        sink.block(place(i).wrapping_add(skip), rest);
        i += 1;
    }
    let left = sink.left();
    let whole = if left / bytes < count - i { left / bytes } else { count - i };
    if whole > 0 {
        sink.strided(place(i), whole, stride, bytes);
        i += whole;
    }
    let left = sink.left();
    if i < count && left > 0 {
        sink.block(place(i), left);
    }
}

fn walk_blocks<S: BlockSink>(blocks: &Blocks, base: *mut u8, skip: usize, sink: &mut S) {
    let bytes = blocks.bytes;
    let (mut i, skip) = if skip < bytes { (0, skip) } else { (skip / bytes, skip % bytes) };
    if skip > 0 {
        let rest = (bytes - skip).min(sink.left());
        sink.block(base.wrapping_offset(blocks.at[i]).wrapping_add(skip), rest);
        i += 1;
    }
    let whole = (sink.left() / bytes).min(blocks.at.len() - i);
    sink.scattered(base, &blocks.at[i..i + whole], bytes);
    i += whole;
    let left = sink.left();
    if i < blocks.at.len() && left > 0 {
        sink.block(base.wrapping_offset(blocks.at[i]), left);
    }
}

fn walk_runs<S: BlockSink>(runs: &Runs, base: *mut u8, skip: usize, sink: &mut S) {
    let mut i = seek(&runs.starts, skip);
    let mut skip = skip - runs.starts[i];
    while i < runs.at.len() {
        let left = sink.left();
        if left == 0 {
            break;
        }
        let bytes = runs.starts[i + 1] - runs.starts[i] - skip;
        sink.block(base.wrapping_offset(runs.at[i]).wrapping_add(skip), bytes.min(left));
        skip = 0;
        i += 1;
    }
}

impl Placed {
    /// No data.
    pub(super) fn empty() -> Self {
        Self { at: 0, node: LayoutNode::Block(0) }
    }

    /// So many bytes from here on.
    pub(super) fn block(bytes: usize) -> Self {
        Self { at: 0, node: LayoutNode::Block(bytes) }
    }

    /// Moved by so many bytes.
    #[must_use]
    pub(super) fn shifted(mut self, by: isize) -> Self {
        self.at = self.at.wrapping_add(by);
        self
    }

    /// `count` times, `stride` bytes apart.
    #[must_use]
    pub(super) fn repeated(self, count: usize, stride: isize) -> Self {
        let Self { at, node } = self;
        if count == 0 || node.size() == 0 {
            return Self::empty();
        }
        if count == 1 {
            return Self { at, node };
        }
        let node = match &node {
            LayoutNode::Block(bytes) if stride == *bytes as isize => LayoutNode::Block(count * bytes),
            LayoutNode::Loop(inner) if stride == (inner.count as isize).wrapping_mul(inner.stride) => {
                LayoutNode::Loop(Arc::new(Loop {
                    count: count * inner.count,
                    stride: inner.stride,
                    body: inner.body.clone(),
                }))
            }
            _ => LayoutNode::Loop(Arc::new(Loop { count, stride, body: node })),
        };
        Self { at, node }
    }
}

/// Nodes one after the other in the packed data: without empty ones, neighbours joined, short lists merged.
pub(super) struct Sequence(Vec<Placed>);

impl Sequence {
    /// Empty, with room for so many.
    pub(super) fn of_about(parts: usize) -> Self {
        Self(Vec::with_capacity(parts))
    }

    /// All of them as one.
    pub(super) fn finish(self) -> Placed {
        let mut list = self.0;
        let Some(first) = list.first() else { return Placed::empty() };
        let at = first.at;
        if list.len() == 1 {
            return list.swap_remove(0);
        }
        let stride = list[1].at.wrapping_sub(at);
        let regular = list.windows(2).all(|two| two[1].at.wrapping_sub(two[0].at) == stride);
        if regular && list.iter().all(|part| part.node.is(&list[0].node)) {
            let count = list.len();
            return list.swap_remove(0).repeated(count, stride);
        }
        let lengths: Option<Vec<usize>> = list
            .iter()
            .map(|part| if let LayoutNode::Block(bytes) = part.node { Some(bytes) } else { None })
            .collect();
        let places = || list.iter().map(|part| part.at.wrapping_sub(at)).collect();
        let node = match lengths {
            Some(lengths) if lengths.iter().all(|&bytes| bytes == lengths[0]) => {
                LayoutNode::Blocks(Arc::new(Blocks { bytes: lengths[0], at: places() }))
            }
            Some(lengths) if is_cut_up(&lengths) => LayoutNode::Blocks(Arc::new(cut_up(&lengths, &list))),
            Some(lengths) => LayoutNode::Runs(Arc::new(Runs { starts: starts(lengths), at: places() })),
            None => LayoutNode::Parts(Arc::new(Parts {
                starts: starts(list.iter().map(|part| part.node.size())),
                blocks: list.iter().fold(0, |blocks, part| blocks.saturating_add(part.node.blocks())),
                parts: list.into_iter().map(|part| part.shifted(at.wrapping_neg())).collect(),
            })),
        };
        Placed { at, node }
    }

    /// Puts a node behind.
    pub(super) fn push(&mut self, part: Placed) {
        let at = part.at;
        match &part.node {
            LayoutNode::Block(0) => {}
            LayoutNode::Block(bytes) => match self.0.last_mut() {
                Some(Placed { at: before, node: LayoutNode::Block(length) })
                    if before.wrapping_add(*length as isize) == at =>
                {
                    *length += bytes;
                }
                _ => self.0.push(part),
            },
            LayoutNode::Blocks(blocks) if blocks.at.len() <= MERGED => {
                for &more in &blocks.at {
                    self.push(Placed::block(blocks.bytes).shifted(at.wrapping_add(more)));
                }
            }
            LayoutNode::Runs(runs) if runs.at.len() <= MERGED => {
                for (&more, ends) in runs.at.iter().zip(runs.starts.windows(2)) {
                    self.push(Placed::block(ends[1] - ends[0]).shifted(at.wrapping_add(more)));
                }
            }
            LayoutNode::Parts(parts) if parts.parts.len() <= MERGED => {
                for part in &parts.parts {
                    self.push(part.clone().shifted(at));
                }
            }
            _ => self.0.push(part),
        }
    }
}

/// Lists of short blocks are better copied in pieces of one length: copying by a length that changes costs more
/// than a few pieces do.
fn is_cut_up(lengths: &[usize]) -> bool {
    let piece = piece(lengths);
    let pieces: usize = lengths.iter().map(|bytes| bytes / piece).sum();
    lengths.len() > MERGED && piece >= LEAST_PIECE && pieces <= MOST_PIECES * lengths.len()
}

/// The largest length of which all are multiples.
fn piece(lengths: &[usize]) -> usize {
    lengths.iter().fold(0, |piece, &length| {
        let (mut a, mut b) = (length, piece);
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    })
}

/// The blocks of a list, relative to the first, in pieces of one length.
fn cut_up(lengths: &[usize], list: &[Placed]) -> Blocks {
    let bytes = piece(lengths);
    let at = lengths.iter().zip(list).flat_map(|(length, part)| {
        let place = part.at.wrapping_sub(list[0].at);
        (0..length / bytes).map(move |i| place.wrapping_add((i * bytes) as isize))
    });
    Blocks { bytes, at: at.collect() }
}

fn starts(lengths: impl IntoIterator<Item = usize>) -> Box<[usize]> {
    let mut end = 0;
    let ends = lengths.into_iter().map(|bytes| {
        end += bytes;
        end
    });
    std::iter::once(0).chain(ends).collect()
}
