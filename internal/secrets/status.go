package secrets

import (
	"context"
	"errors"
	"fmt"

	"github.com/gybob/aai-gateway"
)

// Status reports the place of the master key, or of a future one, and why no better place
// is used.
type Status struct {
	Folder  string `json:"folder"`
	Exists  bool   `json:"made"`              // whether there is a vault
	Key     string `json:"key,omitempty"`     // the first digits of the ID of its master key
	Place   string `json:"place,omitempty"`   // place of that key, or of the next one
	Records int    `json:"records"`           // the number of records
	Problem string `json:"problem,omitempty"` // why no record can be stored or read
	Hint    string `json:"hint,omitempty"`    // how to provide a place for the key, if there is none
	// Warning is a warning about a place that works.
	Warning string        `json:"warning,omitempty"`
	Places  []PlaceStatus `json:"places"` // best first
}

// PlaceStatus is the status of one place.
type PlaceStatus struct {
	Name   string     `json:"name"`
	Title  string     `json:"title"` // its name for people
	State  PlaceState `json:"state"`
	Detail string     `json:"detail,omitempty"` // why it cannot be used
}

// A PlaceState is the state of a place for the master key.
type PlaceState string

// The states of a place.
const (
	StateInUse       PlaceState = "in use"      // its key opens this vault
	StateNext        PlaceState = "next"        // there is no vault; its key would be here
	StateReady       PlaceState = "ready"       // it works, and holds no key of this vault
	StateOtherKey    PlaceState = "other key"   // its key, which Detail names, does not open this vault
	StateNotAsked    PlaceState = "not asked"   // in use, but only a person at a terminal can check that it opens the vault
	StateUnavailable PlaceState = "unavailable" // Detail says why
)

// Status checks every place without asking the person or creating files. Problems of the
// vault are in Status.Problem; the error is ctx's.
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
			opens = true // with the passphrase
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

// placeStatus returns the status of one place: whether it has the label's key, or whether
// it could store a key if there is no vault.
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
