package config

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/policy"
	"github.com/gybob/aai-gateway/internal/policy/reauth"
)

// A wideningRule selects the values of a setting that let callers do more or that delegate a
// decision. Such a value needs a person's confirmation, unless root set it.
type wideningRule int

const (
	widensUnlessDefault wideningRule = iota // any value but the default: the strict rule
	widensIfRelaxed                         // the setting only narrows: a value that replaces an earlier layer's value
	widensIfLess                            // less than the default
	widensIfMore                            // more than the default
	widensInUserFile                        // set by the starting process or by root, never in the person's file
	widensNever
	widensIfChanged // effective at its place; a change through the gateway needs reauthentication
)

// isWidened reports whether the rule counts the change from the value was to the value is as
// widening. standard is the default.
func (r wideningRule) isWidened(standard, was, is any) bool {
	switch r {
	case widensIfRelaxed:
		return !equalValues(is, was) && !equalValues(was, standard)
	case widensIfLess:
		return isLess(is, standard)
	case widensIfMore:
		return isLess(standard, is)
	case widensInUserFile, widensNever, widensIfChanged:
		return false
	case widensUnlessDefault:
	}
	return !equalValues(is, standard)
}

func equalValues(a, b any) bool {
	one, err := json.Marshal(a)
	other, err2 := json.Marshal(b)
	return err == nil && err2 == nil && string(one) == string(other)
}

// isLess compares two numeric settings.
func isLess(a, b any) bool {
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

// clone returns a copy of the configuration.
func (c *Config) clone() *Config {
	before := *c
	before.Policy.Limits = maps.Clone(c.Policy.Limits)
	before.origins = maps.Clone(c.origins)
	return &before
}

// confirmWidening reports whether a value just set may stay. An unconfirmed widening value may
// not, and is noted.
func (c *Config) confirmWidening(s settingSpec, before *Config, origin string) bool {
	if origin == policy.RootPolicyPath {
		c.setPreapprovedChannel(s.key, policy.RootPolicyChannel)
		return true
	}
	value := s.get(c)
	if s.widens == widensInUserFile && !equalValues(value, s.get(c.defaults)) && filepath.IsAbs(origin) {
		c.Notes = append(c.Notes, origin+": "+s.key+" does not hold in a file that could have been put there with a key; "+
			"give --insecure-storage or AAI_INSECURE_STORAGE, or have root write it into "+policy.RootPolicyPath)
		return false
	}
	if !s.widens.isWidened(s.get(c.defaults), s.get(before), value) {
		return true
	}
	widening := reauth.Setting{From: origin, Key: s.key, Value: value}
	by, err := c.confirmedBy(widening)
	_, ofClient := DevClient(origin)
	if by == "" && ofClient {
		by, err = c.confirmedBy(reauth.Setting{From: devFlag, Key: s.key, Value: value})
	}
	if by != "" {
		c.setPreapprovedChannel(s.key, by)
		return true
	}
	note := origin + ": " + s.key + " does not hold, since nobody has confirmed it; run: aai-gateway "
	if origin == devFlag || ofClient {
		note += devFlag + " "
	}
	note += "consent confirm"
	if err != nil {
		note += " (what was confirmed cannot be read: " + aai.CleanText(err.Error(), 400) + ")"
	}
	c.Notes, c.Unconfirmed = append(c.Notes, note), append(c.Unconfirmed, widening)
	return false
}

// devFlag is the flag that sets dev, and its origin in a person's command. In a client's configuration its origin is
// devOfClient with the client's identity.
const (
	devFlag     = "--dev"
	devOfClient = devFlag + " of "
)

// devOrigin returns the origin of dev if the client with that identity started the gateway with the flag.
func devOrigin(client string) string {
	if client == "" {
		return devFlag
	}
	return devOfClient + client
}

// DevClient returns the identity of the client if an origin is the flag --dev in a client's configuration.
func DevClient(origin string) (client string, ok bool) { return strings.CutPrefix(origin, devOfClient) }

// confirmedBy returns the channel by which a person confirmed the setting, or "".
func (c *Config) confirmedBy(s reauth.Setting) (aai.Channel, error) {
	if c.source.Confirmed == nil {
		return "", nil
	}
	return c.source.Confirmed(c, s)
}

// setPreapprovedChannel records the channel that confirmed the preapproved grants.
func (c *Config) setPreapprovedChannel(key string, by aai.Channel) {
	if key != "consent.preapproved" {
		return
	}
	c.Preapproved = slices.Clone(c.Preapproved)
	for i := range c.Preapproved {
		c.Preapproved[i].Channel = by
	}
}

// isSetByRoot reports whether root has set the setting and origin is another layer.
func (c *Config) isSetByRoot(key, origin string) bool {
	return origin != policy.RootPolicyPath && c.Origin(key) == policy.RootPolicyPath
}

// Widens reports whether the person's file lets callers do more in next than in c, by the setting
// key. Unconfirmed values count as if confirmed. If another layer sets the current value, every
// change of a widening setting counts.
func (c *Config) Widens(key string, next *Config) bool {
	i := slices.IndexFunc(settingSpecs(), func(s settingSpec) bool { return s.key == key })
	if i < 0 {
		return true
	}
	s := settingSpecs()[i]
	was, is := s.get(c), s.get(next)
	for _, w := range next.Unconfirmed {
		if w.From == next.path && w.Key == key {
			is = w.Value
		}
	}
	says := next.Origin(key)
	switch {
	case s.widens == widensNever, s.widens == widensInUserFile:
		return false
	case says != Default && says != next.path:
		return true
	case equalValues(was, is):
		return false
	case s.widens == widensIfChanged, s.widens == widensIfMore && isLess(was, is),
		s.widens == widensIfLess && isLess(is, was):
		return true
	}
	return s.widens.isWidened(s.get(c.defaults), was, is)
}
