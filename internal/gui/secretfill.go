package gui

import (
	"context"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/gui/conversation"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
)

// Parts of a secret that are hidden: of a text in a window, and of a copied text.
const (
	shownPart, shownPercent   = 6, 60
	copiedPart, copiedPercent = 4, 40
)

// repeatsSecret reports whether a text of a window repeats a secret of the person, or most of one.
func repeatsSecret(ctx context.Context, text string) bool {
	return gateway.HasSecrets(ctx) && (gateway.RepeatsSecret(ctx, text) || gateway.RepeatsPart(ctx, text, shownPart, shownPercent))
}

// secretPlace describes the element as a place for a secret. It reads the element itself, because programs do not report
// each change of a field. A field in a page belongs to the document around it, which may be a frame of another origin.
func (v *view) secretPlace(ctx context.Context, i int) (aai.SecretPlace, error) {
	e, err := conversation.ReadFilled(ctx, v.backend, v.app, v.snapshot.Elements[i].ID)
	if err != nil {
		return aai.SecretPlace{}, guierr.Unreadable(err)
	}
	at := aai.SecretPlace{
		App: v.call.Target.ID, Role: string(e.Role), Name: e.Name, ID: e.Identifier,
		IsPassword: e.States.Has(desktop.Protected), IsText: takesText(&e) && e.States.Has(desktop.Editable) && !takesKeys(&e),
	}
	document := v.document(i)
	if document < 0 {
		return at, nil
	}
	if at.InPage = v.app.IsBrowser; v.backend.Documents != nil {
		addresses, err := v.backend.Documents.Addresses(ctx, v.app, []desktop.ID{v.snapshot.Elements[document].ID})
		if err != nil {
			return at, guierr.Unreadable(err)
		}
		at.Address = addresses[0]
	}
	at.InPage = at.InPage || at.Address != ""
	return at, nil
}

// checkSecrets returns an error unless the secrets in the text may go into the element.
func (v *view) checkSecrets(ctx context.Context, i int, text string) error {
	if strings.ContainsAny(text, "\n\r\t") {
		return guierr.Failed(aai.NotDelivered, "a text with a secret can have no end of line and no tab, which are keys in a field")
	}
	at, err := v.secretPlace(ctx, i)
	if err != nil {
		return err
	}
	return gateway.CheckSecrets(ctx, text, at)
}

// checkAllSecrets returns an error unless the secrets of all fields may go there, as far as the fields are found. Nothing
// is filled if one may not.
func (f *formFill) checkAllSecrets(ctx context.Context) error {
	for _, one := range f.fields {
		i := f.snapshot.Index(one.id)
		if i < 0 || !gateway.HasSecret(one.value) {
			continue
		}
		if err := f.checkSecrets(ctx, i, one.value); err != nil {
			return err
		}
	}
	return nil
}

// secretValue returns the text with the values of its secrets for the element with the id. It reads the program again:
// the page may have moved or changed the field, or may be another one.
func (v *view) secretValue(ctx context.Context, id desktop.ID, text string) (string, error) {
	now, i, err := v.refound(ctx, id)
	if err != nil {
		return "", err
	}
	at, err := now.secretPlace(ctx, i)
	if err != nil {
		return "", err
	}
	return gateway.FillSecrets(ctx, text, at)
}

// refound returns a view of the program as it is now, and the index of the element in it.
func (v *view) refound(ctx context.Context, id desktop.ID) (*view, int, error) {
	now := *v
	if err := now.refresh(ctx); err != nil {
		return nil, -1, err
	}
	i := now.snapshot.Index(id)
	if i < 0 {
		return nil, -1, guierr.Failed(aai.NotDelivered, "the field is gone, so no secret was filled into it")
	}
	return &now, i, nil
}

// fillSecret fills a text with secrets into the element, after its content or in its place. The value exists only between
// the last check of the field and the strokes. There is no undo.
func (v *view) fillSecret(ctx context.Context, i int, text string, replace bool) (*aai.Result, error) {
	if v.snapshot.Elements[i].States.Has(desktop.ReadOnly) {
		return nil, v.readOnlyError(i)
	}
	if err := v.checkSecrets(ctx, i, text); err != nil {
		return nil, err
	}
	id, value := v.snapshot.Elements[i].ID, ""
	filled := func(ctx context.Context) (_ string, err error) {
		if value, err = v.secretValue(ctx, id, text); err != nil {
			return "", err
		}
		// from here on, no tool shows the content of the field
		return value, v.engine.filled.Add(context.WithoutCancel(ctx), v.app, id, v.engine.Runs)
	}
	act := desktop.Act{Verb: desktop.InsertText, Name: v.snapshot.Elements[i].Name}
	if replace {
		act.Verb = desktop.SetText
	}
	a := action{view: v, index: i, doneText: "Filled " + text + " into", techniques: []technique{
		{name: "its editable text", viaAccessibility: true, do: func(ctx context.Context) (err error) {
			if v.backend.Actor == nil {
				return guierr.Unsupported("actions on elements")
			}
			now := act
			if now.Text, err = filled(ctx); err != nil {
				return err
			}
			return v.backend.Actor.Execute(ctx, v.app, id, now)
		}},
		v.byTypingLate(i, replace, filled, func(ctx context.Context) error { return v.recheckSecrets(ctx, id, text) }),
	}}
	a.verify = func(ctx context.Context) (string, bool) {
		now, err := conversation.ReadFilled(ctx, v.backend, v.app, id)
		if err != nil || now.States.Has(desktop.Protected) {
			return "", false
		}
		return "", now.Value == value || !replace && strings.HasSuffix(now.Value, value)
	}
	out, err := a.execute(ctx)
	if err != nil {
		v.emptyAfterFailure(ctx, id, err)
		return nil, err
	}
	return out, nil
}

// recheckSecrets returns an error unless the element still is a place for the secrets.
func (v *view) recheckSecrets(ctx context.Context, id desktop.ID, text string) error {
	now, i, err := v.refound(ctx, id)
	if err != nil {
		return err
	}
	return now.checkSecrets(ctx, i, text)
}

// emptyAfterFailure empties a field that may have got a part of a secret, as far as the program allows that.
func (v *view) emptyAfterFailure(ctx context.Context, id desktop.ID, failed error) {
	if aai.AsError(failed).Delivery == aai.NotDelivered || v.backend.Actor == nil {
		return
	}
	_ = v.backend.Actor.Execute(context.WithoutCancel(ctx), v.app, id, desktop.Act{Verb: desktop.SetText})
}

// checkSecretKeys returns an error for keys that could take a secret elsewhere: any chord in a field that holds one, which
// may select or copy a part of it, and keys that paste while the clipboard holds one.
func (v *view) checkSecretKeys(ctx context.Context, i int, chord desktop.Chord) error {
	shifted := slices.Equal(chord.Modifiers, []string{"shift"})
	if i >= 0 && v.engine.filled.Holds(v.app, v.snapshot.Elements[i].ID) && len(chord.Modifiers) > 0 && (!shifted || chord.Key != "tab") {
		return v.holdsSecret(i)
	}
	pastes := chord.Key == "v" && len(chord.Modifiers) > 0 || chord.Key == "insert" && shifted
	if !pastes || !gateway.HasSecrets(ctx) || v.backend.Clipboard == nil {
		return nil
	}
	clip, err := v.backend.Clipboard.Get(ctx)
	if err == nil && gateway.RepeatsPart(ctx, clip.Text, copiedPart, copiedPercent) {
		return guierr.Failed(aai.NotDelivered, "the clipboard holds a secret of the person, and nothing was pasted")
	}
	return nil
}

// checkSecretPoint returns an error for a pointer action that could select the text of a field that holds a secret: more
// than a click at a point of the field.
func (v *view) checkSecretPoint(at desktop.Point) error {
	for i := range v.snapshot.Elements {
		if e := &v.snapshot.Elements[i]; e.States.Has(desktop.Protected) && e.Frame.Contains(at) && v.engine.filled.Holds(v.app, e.ID) {
			return v.holdsSecret(i)
		}
	}
	return nil
}

func (v *view) holdsSecret(i int) error {
	e := guierr.Failed(aai.NotDelivered, "%s holds a secret of the person, and its text can be neither selected nor copied", v.name(i))
	aai.AsError(e).Hint = "Only plain keys such as tab, return and escape work there, and single clicks."
	return e
}
