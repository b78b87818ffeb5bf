package secrets

import (
	"context"
	"errors"
	"fmt"

	"github.com/gybob/aai-gateway"
)

// Status says where the master key is, or would be, and why it is not in a better
// place.
type Status struct {
	Folder  string `json:"folder"`
	Exists  bool   `json:"made"`              // whether there is a vault
	Key     string `json:"key,omitempty"`     // the first digits of the id of its master key
	Place   string `json:"place,omitempty"`   // where that key is, or the next one would be kept
	Records int    `json:"records"`           // how many there are
	Problem string `json:"problem,omitempty"` // why nothing can be kept or read
	Hint    string `json:"hint,omitempty"`    // what makes a place for the key, where there is none
	// Warning says what a person should know of a place that works.
	Warning string        `json:"warning,omitempty"`
	Places  []PlaceStatus `json:"places"` // the best one first
}

// PlaceStatus says how it stands with one place.
type PlaceStatus struct {
	Name   string     `json:"name"`
	Title  string     `json:"title"` // what it is, for people
	State  PlaceState `json:"state"`
	Detail string     `json:"detail,omitempty"` // why it cannot be used
}

// A State is how it stands with a place for the master key.
type PlaceState string

// The states.
const (
	StateInUse       PlaceState = "in use"
	StateNext        PlaceState = "next"        // there is no vault; its key would be here
	StateReady       PlaceState = "ready"       // it works, and holds no key of this vault
	StateOtherKey    PlaceState = "other key"   // its key, which Detail names, does not open this vault
	StateNotAsked    PlaceState = "not asked"   // in use, and only a person at a terminal can tell whether it opens
	StateUnavailable PlaceState = "unavailable" // Detail says why
)

// Status looks at every place, but asks no person and makes nothing. What is wrong
// with the vault is in Status.Problem; the error is ctx's.
func (v *Vault) Status(ctx context.Context) (Status, error) {
	s := Status{Folder: v.folder.path}
	l, broken := v.label()
	if l != nil {
		s.Exists, s.Key, s.Place = true, shortID(l.Key), l.Place
		if files, err := v.folder.records(); err == nil {
			s.Records = len(files)
		}
	}
	opens := false
	var notes []string
	for _, p := range v.places() {
		shown := v.placeStatus(ctx, p, l)
		if ctx.Err() != nil {
			return Status{}, ctx.Err()
		}
		switch shown.State {
		case StateInUse:
			s.Place, opens = p.name, true
		case StateNotAsked:
			opens = true // for who knows the passphrase
		case StateReady:
			if l == nil && broken == nil && s.Place == "" {
				shown.State, s.Place = StateNext, p.name
			}
		case StateUnavailable:
			notes = append(notes, p.title+": "+shown.Detail)
		case StateNext, StateOtherKey:
		}
		s.Places = append(s.Places, shown)
	}
	switch {
	case broken != nil:
		s.Problem = aai.AsError(broken).Message
	case s.Place == "":
		none := v.refusal(notes)
		s.Problem, s.Hint = none.Message, none.Hint
	case l != nil && !opens:
		s.Problem = fmt.Sprintf("the key %s cannot be had from %s", s.Key, titleOf(v.places(), l.Place))
	case s.Place == placeInsecure:
		s.Warning = "whoever can read " + v.folder.file(insecureFile) + " can read your secrets"
	}
	return s, nil
}

// placeStatus says how it stands with one place: whether the label's key is there, or
// whether a key could be where there is no vault.
func (v *Vault) placeStatus(ctx context.Context, p keyPlace, l *label) PlaceStatus {
	shown := PlaceStatus{Name: p.name, Title: p.title}
	if p.name == placePassphrase && v.ask != nil && l != nil && l.Scrypt != nil {
		shown.State = StateNotAsked
		return shown
	}
	master, err := p.get(ctx, l)
	var k *sealer
	if err == nil {
		k, err = newSealer(master)
	}
	switch {
	case errors.Is(err, errNoKey) || err == nil && l == nil:
		shown.State = StateReady
	case err != nil:
		shown.State, shown.Detail = StateUnavailable, err.Error()
	case k.name() == l.Key:
		shown.State = StateInUse
	default:
		shown.State, shown.Detail = StateOtherKey, shortID(k.name())
	}
	return shown
}
