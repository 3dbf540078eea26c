//! First-in-first-out lists by key, for matching: adding, finding the first and removing any entry take the same time
//! however many there are.

/// No entry, no list.
const NONE: u32 = u32::MAX;
/// Lists that are kept, emptied or not, before empty ones are thrown out.
const LEAST_LISTS: usize = 64;

/// What the entries of a list have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Key {
    /// The first part.
    pub(crate) words: u64,
    /// The second part.
    pub(crate) more: u32,
}

impl Key {
    #[inline]
    fn hash(self) -> u64 {
        // Fibonacci hashing: the high bits of a product with 2^64 over the golden ratio.
        (self.words ^ u64::from(self.more).rotate_left(40)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

struct List {
    key: Key,
    first: u32,
    last: u32,
    /// The next list in the same bucket.
    next: u32,
}

#[derive(Clone, Copy)]
struct Link {
    list: u32,
    next: u32,
    previous: u32,
    order: u64,
}

const UNLINKED: Link = Link { list: NONE, next: NONE, previous: NONE, order: 0 };

/// The lists. Entries are named by small numbers that the caller gives.
pub(crate) struct Lists {
    buckets: Vec<u32>,
    /// 64 minus the bits of a bucket's number.
    shift: u32,
    lists: Vec<List>,
    /// The list that was used last: streams of messages have one key.
    recent: u32,
    most: usize,
    links: Vec<Link>,
    entries: usize,
}

impl Default for Lists {
    fn default() -> Self {
        let buckets = 2 * LEAST_LISTS;
        Self {
            buckets: vec![NONE; buckets],
            shift: 64 - buckets.trailing_zeros(),
            lists: Vec::new(),
            recent: NONE,
            most: LEAST_LISTS,
            links: Vec::new(),
            entries: 0,
        }
    }
}

impl Lists {
    /// Entries in all lists.
    #[inline]
    pub(crate) fn entries(&self) -> usize {
        self.entries
    }

    #[inline]
    fn find(&self, key: Key) -> u32 {
        let mut at = self.buckets[(key.hash() >> self.shift) as usize];
        while at != NONE && self.lists[at as usize].key != key {
            at = self.lists[at as usize].next;
        }
        at
    }

    /// As `find`, for an entry that is added or taken out.
    #[inline]
    fn find_to_change(&mut self, key: Key) -> u32 {
        if self.lists.get(self.recent as usize).is_none_or(|list| list.key != key) {
            self.recent = self.find(key);
        }
        self.recent
    }

    /// Adds an entry, which is in no list, behind all others of its key.
    #[inline]
    pub(crate) fn push(&mut self, key: Key, entry: u32, order: u64) {
        let mut at = self.find_to_change(key);
        if at == NONE {
            at = self.make(key);
        }
        if entry as usize >= self.links.len() {
            self.links.resize(entry as usize + 1, UNLINKED);
        }
        let list = &mut self.lists[at as usize];
        let last = list.last;
        list.last = entry;
        if last == NONE {
            list.first = entry;
        } else {
            self.links[last as usize].next = entry;
        }
        debug_assert!(self.links[entry as usize].list == NONE);
        self.links[entry as usize] = Link { list: at, next: NONE, previous: last, order };
        self.entries += 1;
    }

    #[cold]
    fn make(&mut self, key: Key) -> u32 {
        if self.lists.len() == self.most {
            self.rebuild();
        }
        let bucket = (key.hash() >> self.shift) as usize;
        let at = self.lists.len() as u32;
        self.lists.push(List { key, first: NONE, last: NONE, next: self.buckets[bucket] });
        self.buckets[bucket] = at;
        at
    }

    /// Throws empty lists out, and makes room for as many again as are left.
    fn rebuild(&mut self) {
        self.lists.retain(|list| list.first != NONE);
        self.most = (2 * self.lists.len()).max(LEAST_LISTS);
        let buckets = (2 * self.most).next_power_of_two();
        self.shift = 64 - buckets.trailing_zeros();
        self.buckets.clear();
        self.buckets.resize(buckets, NONE);
        for at in 0..self.lists.len() {
            let list = &mut self.lists[at];
            let bucket = (list.key.hash() >> self.shift) as usize;
            list.next = self.buckets[bucket];
            self.buckets[bucket] = at as u32;
            let mut entry = list.first;
            while entry != NONE {
                self.links[entry as usize].list = at as u32;
                entry = self.links[entry as usize].next;
            }
        }
    }

    /// The first entry of a key, and its order.
    #[inline]
    pub(crate) fn first(&self, key: Key) -> Option<(u32, u64)> {
        let at = self.find(key);
        if at == NONE {
            return None;
        }
        let entry = self.lists[at as usize].first;
        (entry != NONE).then(|| (entry, self.links[entry as usize].order))
    }

    /// Takes the first entry of a key out.
    #[inline]
    pub(crate) fn take_first(&mut self, key: Key) -> Option<u32> {
        let at = self.find_to_change(key);
        if at == NONE {
            return None;
        }
        let list = &mut self.lists[at as usize];
        let entry = list.first;
        if entry == NONE {
            return None;
        }
        let link = &mut self.links[entry as usize];
        let next = link.next;
        link.list = NONE;
        list.first = next;
        if next == NONE {
            list.last = NONE;
        } else {
            self.links[next as usize].previous = NONE;
        }
        self.entries -= 1;
        Some(entry)
    }

    /// Takes an entry out; false when it is in no list.
    #[inline]
    pub(crate) fn remove(&mut self, entry: u32) -> bool {
        let Some(link) = self.links.get_mut(entry as usize) else { return false };
        let Link { list, next, previous, .. } = *link;
        if list == NONE {
            return false;
        }
        link.list = NONE;
        let list = &mut self.lists[list as usize];
        if previous == NONE {
            list.first = next;
        } else {
            self.links[previous as usize].next = next;
        }
        if next == NONE {
            list.last = previous;
        } else {
            self.links[next as usize].previous = previous;
        }
        self.entries -= 1;
        true
    }

    /// All entries by order.
    pub(crate) fn in_order(&self) -> Vec<(u32, u64)> {
        let linked = self.links.iter().enumerate().filter(|(_, link)| link.list != NONE);
        let mut all: Vec<_> = linked.map(|(entry, link)| (entry as u32, link.order)).collect();
        all.sort_unstable_by_key(|&(_, order)| order);
        all
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn many_keys_come_and_go_and_every_list_keeps_its_order() {
        let mut lists = Lists::default();
        let key = |number: u64| Key { words: number, more: number as u32 % 3 };
        for round in 0..3u64 {
            for entry in 0..3000u32 {
                lists.push(key(u64::from(entry) / 3 + 1000 * round), entry, u64::from(entry));
            }
            for entry in (1..3000).step_by(3) {
                assert!(lists.remove(entry) && !lists.remove(entry));
            }
            assert_eq!(lists.entries(), 2000);
            assert_eq!(lists.in_order().len(), 2000);
            for number in 0..1000u32 {
                let key = key(u64::from(number) + 1000 * round);
                for entry in [3 * number, 3 * number + 2] {
                    assert_eq!(lists.first(key), Some((entry, u64::from(entry))));
                    lists.remove(entry);
                }
                assert_eq!(lists.first(key), None);
            }
        }
        assert!(lists.lists.len() <= 2 * 3000, "empty lists are thrown out");
    }
}
