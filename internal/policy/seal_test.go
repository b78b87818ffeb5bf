package policy

import (
	"crypto/sha256"
	"encoding/base64"
	"math"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

func sumOf(s string) [sha256.Size]byte { return sha256.Sum256([]byte(s)) }

func TestSealOpensOnce(t *testing.T) {
	s, asked := newSealer(), sumOf("a call")
	seal := s.seal(asked, epoch())
	assert.NilError(t, s.open(seal, asked, epoch().Add(sealLifetime)))
	for _, later := range []time.Duration{0, sealLifetime} {
		err := s.open(seal, asked, epoch().Add(later))
		assert.Check(t, is.ErrorIs(err, errSealUsed), "again after %s: %v", later, err)
	}
	err := s.open(seal, asked, epoch().Add(sealLifetime+1))
	assert.Check(t, is.ErrorIs(err, errSealExpired), "again when expired: %v", err)
}

func TestSealIsRefused(t *testing.T) {
	s, asked := newSealer(), sumOf("a call")
	seal := s.seal(asked, epoch())
	raw, _ := base64.RawURLEncoding.DecodeString(seal)
	for name, forged := range map[string]string{
		"empty":            "",
		"no base64":        strings.Repeat("!", len(seal)),
		"padded":           seal + "=",
		"too short":        base64.RawURLEncoding.EncodeToString(raw[:len(raw)-1]),
		"too long":         base64.RawURLEncoding.EncodeToString(append(raw[:len(raw):len(raw)], 0)),
		"only zeros":       base64.RawURLEncoding.EncodeToString(make([]byte, sealSize)),
		"another gateway":  newSealer().seal(asked, epoch()),
		"the zero sealer":  (&sealer{}).seal(asked, epoch()),
		"of another call":  s.seal(sumOf("another call"), epoch()),
		"10 kB of nothing": strings.Repeat("A", 10_000),
	} {
		assert.Check(t, is.ErrorIs(s.open(forged, asked, epoch()), errSealForged), name)
	}
	assert.Check(t, is.ErrorIs(s.open(seal, asked, epoch().Add(sealLifetime+1)), errSealExpired))
	err := s.open(seal, asked, epoch())
	assert.Check(t, err, "attempts have used the seal up: %v", err)
}

// TestSealAltered checks that every bit of a seal counts: nonce, expiry and MAC.
func TestSealAltered(t *testing.T) {
	s, asked := newSealer(), sumOf("a call")
	raw, _ := base64.RawURLEncoding.DecodeString(s.seal(asked, epoch()))
	for bit := range 8 * len(raw) {
		altered := append([]byte(nil), raw...)
		altered[bit/8] ^= 1 << (bit % 8)
		assert.Assert(t, is.ErrorIs(s.open(base64.RawURLEncoding.EncodeToString(altered), asked, epoch()), errSealForged), "%d", bit)
	}
}

// TestUsedSealsAreForgotten checks that expired seals are removed from memory.
func TestUsedSealsAreForgotten(t *testing.T) {
	s, asked, now := newSealer(), sumOf("a call"), epoch()
	for range 50 {
		assert.NilError(t, s.open(s.seal(asked, now), asked, now))
		now = now.Add(sealLifetime / 10)
	}
	assert.Check(t, len(s.used) <= 12, "%d used seals are remembered", len(s.used))
}

// TestAnswerIsBound checks that an answer is valid for its call only.
func TestAnswerIsBound(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(d *desk, r *aai.Request)
	}{
		{"arguments", func(_ *desk, r *aai.Request) { r.Call.Args = map[string]any{"text": "milk "} }},
		{"more arguments", func(_ *desk, r *aai.Request) { r.Call.Args = map[string]any{"text": "milk", "to": "evil"} }},
		{"no arguments", func(_ *desk, r *aai.Request) { r.Call.Args = nil }},
		{"type of an argument", func(_ *desk, r *aai.Request) { r.Call.Args = map[string]any{"text": []any{"milk"}} }},
		{"name", func(_ *desk, r *aai.Request) { r.Call.Caller.Name = "claude" }},
		{"name that looks the same", func(_ *desk, r *aai.Request) { r.Call.Caller.Name = "claude-ai\u200b" }},
		{"door", func(_ *desk, r *aai.Request) { r.Call.Caller.Door = aai.DoorCLI }},
		{"session", func(_ *desk, r *aai.Request) { r.Call.Caller.Session = "s2" }},
		{"principal", func(_ *desk, r *aai.Request) { r.Call.Caller.Principal = "somebody" }},
		{"tool", func(_ *desk, r *aai.Request) { r.Tool = r.App.Tool("wipe") }},
		{"digest", func(_ *desk, r *aai.Request) { r.App = notesApp("d2"); r.Call.Target = r.App }},
		{"app", func(_ *desk, r *aai.Request) { r.App = &aai.App{ID: "org.example.Other", Digest: "d1"} }},
		{"target", func(_ *desk, r *aai.Request) { r.Call.Target = &aai.App{ID: "org.example.Bank"} }},
		{"time", func(d *desk, _ *aai.Request) { d.clock.advance(sealLifetime + time.Nanosecond) }},
		{"gateway", func(d *desk, _ *aai.Request) { d.seals = newSealer() }},
		{"question", func(_ *desk, r *aai.Request) {
			a := r.Call.Answers[questionID]
			a.Seal = ""
			r.Call.Answers[questionID] = a
		}},
		{"channel", func(_ *desk, r *aai.Request) {
			a := r.Call.Answers[questionID]
			a.Channel = "carrier pigeon"
			r.Call.Answers[questionID] = a
		}},
		{"channel, not said", func(_ *desk, r *aai.Request) {
			a := r.Call.Answers[questionID]
			a.Channel = ""
			r.Call.Answers[questionID] = a
		}},
	} {
		for _, choice := range []string{choiceOnce, choiceSession, choiceAlways, choiceAll, choiceNever} {
			d, app := newDesk(), notesApp("d1")
			r := d.choose(t, app, "add", choice)
			c.change(d, r)
			e := d.refusal(t, r, aai.ConsentRequired)
			assert.Check(t, e.Hint != "", "another %s: no hint", c.name)
			assert.Assert(t, is.Len(d.kept.grants, 0), "%s %q", c.name, choice)
			assert.Assert(t, is.Len(d.sessions.granted, 0), "%s %q", c.name, choice)
		}
	}
}

// TestUnsayableArguments checks that arguments without a JSON form have no reproducible binding.
func TestUnsayableArguments(t *testing.T) {
	odd := func() *aai.Request {
		r := asking(notesApp("d1"), "add")
		r.Call.Args = map[string]any{"n": math.NaN()}
		return r
	}
	first, second := binding(odd()), binding(odd())
	assert.Check(t, first != second, "two calls that cannot be written down share a binding")
	newDesk().refuses(t, odd(), aai.ConsentRequired)
	q := newDesk().question(t, asking(notesApp("d1"), "add"))
	newDesk().refuses(t, answered(odd(), q, choiceOnce), aai.ConsentRequired)
}
