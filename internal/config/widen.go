package config

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"

	"aai"
	"aai/internal/policy"
	"aai/internal/proof"
)

// A rule says which values of a setting let callers do more, or somebody else decide it.
// What holds such a value is confirmed by a person, or root's.
type rule int

const (
	otherwise rule = iota // any but the standard one: the careful rule
	takenBack             // the setting only narrows: a value that is not what was said before
	whenLess              // less than the standard one
	whenMore              // more than the standard one
	inFile                // it holds by whoever starts the program or by root, and never in the person's file
	never
	changed // it holds where it stands; whoever has the gateway change it proves that they want it
)

// by reports whether the value that is lets callers do more than the standard one, or
// than the one that was.
func (r rule) by(standard, was, is any) bool {
	switch r {
	case takenBack:
		return !same(is, was) && !same(was, standard)
	case whenLess:
		return less(is, standard)
	case whenMore:
		return less(standard, is)
	case inFile, never, changed:
		return false
	case otherwise:
	}
	return !same(is, standard)
}

func same(a, b any) bool {
	one, err := json.Marshal(a)
	other, err2 := json.Marshal(b)
	return err == nil && err2 == nil && string(one) == string(other)
}

// less compares two numbers of settings.
func less(a, b any) bool {
	number := func(v any) float64 {
		switch n := v.(type) {
		case int:
			return float64(n)
		case float64:
			return n
		}
		return 0
	}
	return number(a) < number(b)
}

// copied is the configuration as it is now.
func (c *Config) copied() *Config {
	before := *c
	before.Policy.Limits = maps.Clone(c.Policy.Limits)
	before.origins = maps.Clone(c.origins)
	return &before
}

// holds reports whether what has just been set may stay. What widens and is confirmed by
// nobody does not, and is noted.
func (c *Config) holds(s row, before *Config, origin string) bool {
	if origin == policy.PolicyFile {
		c.allowedBy(s.key, policy.Root)
		return true
	}
	value := s.get(c)
	if s.widens == inFile && !same(value, s.get(c.standard)) && filepath.IsAbs(origin) {
		c.Notes = append(c.Notes, origin+": "+s.key+" does not hold in a file that could have been put there with a key; "+
			"give --insecure-storage or AAI_INSECURE_STORAGE, or have root write it into "+policy.PolicyFile)
		return false
	}
	if !s.widens.by(s.get(c.standard), s.get(before), value) {
		return true
	}
	widening := proof.Setting{From: origin, Key: s.key, Value: value}
	by, err := c.confirmedBy(widening)
	if by != "" {
		c.allowedBy(s.key, by)
		return true
	}
	note := origin + ": " + s.key + " does not hold, since nobody has confirmed it; run: aai-gateway consent confirm"
	if err != nil {
		note += " (what was confirmed cannot be read: " + aai.CleanText(err.Error(), 400) + ")"
	}
	c.Notes, c.Unconfirmed = append(c.Notes, note), append(c.Unconfirmed, widening)
	return false
}

// confirmedBy is the way by which a person confirmed the setting, "" for none.
func (c *Config) confirmedBy(s proof.Setting) (aai.Channel, error) {
	if c.source.Confirmed == nil {
		return "", nil
	}
	return c.source.Confirmed(c, s)
}

// allowedBy notes on whose word what is allowed ahead holds.
func (c *Config) allowedBy(key string, by aai.Channel) {
	if key != "consent.preapproved" {
		return
	}
	c.Preapproved = slices.Clone(c.Preapproved)
	for i := range c.Preapproved {
		c.Preapproved[i].Channel = by
	}
}

// fixed reports whether root has said what the setting is.
func (c *Config) fixed(key, origin string) bool {
	return origin != policy.PolicyFile && c.Origin(key) == policy.PolicyFile
}

// Widens reports whether the person's file lets callers do more by a setting in the other
// configuration than in this one: what waits there to be confirmed counts as if it were. Where
// something else than the file says now what holds, every change of what may widen counts.
func (c *Config) Widens(key string, next *Config) bool {
	i := slices.IndexFunc(table(), func(s row) bool { return s.key == key })
	if i < 0 {
		return true
	}
	s := table()[i]
	was, is := s.get(c), s.get(next)
	for _, w := range next.Unconfirmed {
		if w.From == next.path && w.Key == key {
			is = w.Value
		}
	}
	says := next.Origin(key)
	switch {
	case s.widens == never, s.widens == inFile:
		return false
	case says != Default && says != next.path:
		return true
	case same(was, is):
		return false
	case s.widens == changed, s.widens == whenMore && less(was, is), s.widens == whenLess && less(is, was):
		return true
	}
	return s.widens.by(s.get(c.standard), was, is)
}
