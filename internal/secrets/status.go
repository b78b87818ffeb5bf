package secrets

import (
	"context"
	"errors"
	"fmt"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
)

// Status checks every place without asking the person or creating files. Problems of the
// vault are in Status.Problem; the error is ctx's.
func (v *Vault) Status(ctx context.Context) (answer.Keychain, error) {
	s := answer.Keychain{Folder: v.folder.path}
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
			return answer.Keychain{}, ctx.Err()
		}
		switch shown.State {
		case answer.StateInUse:
			s.Place, opens = p.name, true
		case answer.StateNotAsked:
			opens = true // with the passphrase
		case answer.StateReady:
			if l == nil && broken == nil && s.Place == "" {
				shown.State, s.Place = answer.StateNext, p.name
			}
		case answer.StateUnavailable:
			notes = append(notes, p.title+": "+shown.Detail)
		case answer.StateNext, answer.StateOtherKey:
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
func (v *Vault) placeStatus(ctx context.Context, p keyPlace, l *label) answer.KeyPlace {
	shown := answer.KeyPlace{Name: p.name, Title: p.title}
	if p.name == placePassphrase && v.ask != nil && l != nil && l.Scrypt != nil {
		shown.State = answer.StateNotAsked
		return shown
	}
	master, err := p.get(ctx, l)
	var k *sealer
	if err == nil {
		k, err = newSealer(master)
	}
	switch {
	case errors.Is(err, errNoKey) || err == nil && l == nil:
		shown.State = answer.StateReady
	case err != nil:
		shown.State, shown.Detail = answer.StateUnavailable, err.Error()
	case k.name() == l.Key:
		shown.State = answer.StateInUse
	default:
		shown.State, shown.Detail = answer.StateOtherKey, shortID(k.name())
	}
	return shown
}
