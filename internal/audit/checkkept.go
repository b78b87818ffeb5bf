package audit

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"maps"
	"slices"

	"github.com/gybob/aai-gateway/internal/answer"
)

// A keptFile describes an existing file of kept lines.
type keptFile struct {
	name        string
	first, last uint64
	lines       int
	digest      string
}

// A recordedPruning is a record of deleted files, and its number.
type recordedPruning struct {
	event
	seq uint64
}

// readKept checks a file of kept lines: each must be an unchanged record in the file's
// range, in order.
func (c *checker) readKept(ctx context.Context, f openFile) error {
	if f.spare {
		return nil // the files that it copies still exist
	}
	found := keptFile{name: f.name, first: f.first, last: f.last}
	sum := sha256.New()
	seq := f.first - 1
	for text, err := range splitLines(io.TeeReader(io.NewSectionReader(f.file, 0, f.size), sum)) {
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		found.lines++
		l, ok := parseText(text)
		good := ok && l.seq > seq && l.seq <= f.last && c.keptSealed(l)
		if !good {
			addFault(c.v, answer.Tampered, seq+1, f.name, "a line that was kept behind record %d is not what was there", seq)
		} else {
			seq = l.seq
		}
		if good && seq >= f.spareFrom {
			continue // the line's own file still exists too
		}
		c.addKept(l, good)
		if err := c.visitLine(bytes.TrimSuffix(text, []byte("\n")), good, f.name); err != nil {
			return err
		}
	}
	found.digest = hex.EncodeToString(sum.Sum(nil))
	c.keptFiles = append(c.keptFiles, found)
	return nil
}

// keptSealed reports whether a kept line is sealed by its key, which is derived from the
// first key.
func (c *checker) keptSealed(l link) bool {
	if l.seq <= c.keptSeq || l.seq >= longestChain {
		return false
	}
	key := c.keptKey.ahead(l.seq - c.keptSeq - 1)
	if !l.sealedBy(key) {
		return false
	}
	c.keptKey, c.keptSeq = key.next(), l.seq
	return true
}

func (c *checker) addKept(l link, good bool) {
	if !good {
		return
	}
	c.v.Kept++
	if e := l.event(); e.Kind == prunedKind {
		c.prunings = append(c.prunings, recordedPruning{e, l.seq})
	}
	c.checkAnchored(l, "")
}

// checkAnchored reports a fault if l is another record than the anchored one of its number.
func (c *checker) checkAnchored(l link, file string) {
	if a := c.keys.Anchor; a != nil && a.Seq == l.seq && a.Seal != l.seal.String() && c.keys.signed(a) {
		addFault(c.v, answer.Tampered, l.seq, file, "it is not the record that was anchored")
	}
}

// judgeKept compares the files of kept lines with the records about them. A recorded
// pruning may be unfinished: then the records after an older file of kept lines, or all
// records, are still in their own files.
func (c *checker) judgeKept(begins uint64) {
	var forgotten uint64
	latest := make(map[uint64]recordedPruning) // by its first record
	for _, p := range c.prunings {
		forgotten = max(forgotten, p.Forgot)
		if p.Kept > 0 && p.seq >= latest[p.From].seq {
			latest[p.From] = p
		}
	}
	found := make(map[uint64]bool)
	for _, f := range c.keptFiles {
		found[f.first] = true
		i := slices.IndexFunc(c.prunings, func(p recordedPruning) bool {
			return p.Kept > 0 && p.From == f.first && p.Through == f.last && (p.seq == latest[f.first].seq || latest[f.first].Through >= begins)
		})
		switch {
		case i < 0:
			addFault(c.v, answer.Tampered, f.first, f.name, "no record tells of these kept lines")
		case c.prunings[i].Kept != f.lines || c.prunings[i].Digest != f.digest:
			addFault(c.v, answer.Tampered, f.first, f.name, "they are not the %d lines that were kept", c.prunings[i].Kept)
		}
	}
	for _, first := range slices.Sorted(maps.Keys(latest)) {
		if p := latest[first]; first > forgotten && first < begins && !found[first] {
			addFault(c.v, answer.Truncated, first, "", "%d lines that were kept of records %d to %d are missing", p.Kept, first, p.Through)
		}
	}
}
