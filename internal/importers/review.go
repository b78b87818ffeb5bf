package importers

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/gybob/aai-gateway"
)

// A Source drafts the changes that a call asks for. It only reads.
type Source func(context.Context, *aai.Call) (*Review, error)

// A Review is a set of drafted changes, which a person reviews before [Source.Save] saves them.
type Review struct {
	Apps []ReviewedApp
	// Beside are reviewed texts that Prepare and Finish write, and not the descriptor store.
	Beside []DescriptorChange
	// Origin names the things that may change between the preview and the save.
	Origin string
	// Preview is the result for the review. Seen is its member for the digest that the save must name.
	Preview *aai.Result
	Seen    *string
	// Prepare runs before the first app is saved, Finish after the last; both may be nil.
	Prepare, Finish func(context.Context) error
	// Saved returns the result after these apps were saved.
	Saved func(apps []string) *aai.Result
}

// A ReviewedApp is the drafted change of one app.
type ReviewedApp struct {
	ID     string
	Change DescriptorChange
	// StoreSecrets stores the app's secrets before its descriptor is saved; may be nil.
	StoreSecrets func(context.Context) error
}

// Show is the Action that returns the preview of a draft.
func (s Source) Show(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	r, err := s(ctx, call)
	if err != nil {
		return nil, undelivered(ctx, err)
	}
	*r.Seen = r.digest()
	return r.Preview, nil
}

// Save is the Action that drafts the changes again, and saves them if their digest is the argument "seen".
func (s Source) Save(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	r, err := s(ctx, call)
	if err == nil && r.digest() != stringArg(call, "seen") {
		err = newReviewMismatchError(r.Origin)
	}
	if err != nil {
		return nil, undelivered(ctx, err)
	}
	done, err := r.save(ctx)
	if err != nil {
		return nil, undelivered(ctx, partialSaveError(err, done))
	}
	return r.Saved(done), nil
}

// save saves the apps in order, and returns the ids of those that it saved.
func (r *Review) save(ctx context.Context) (done []string, err error) {
	if err := runStep(ctx, r.Prepare); err != nil {
		return nil, err
	}
	for _, app := range r.Apps {
		if err := runStep(ctx, app.StoreSecrets); err != nil {
			return done, err
		}
		if err := app.Change.Save(ctx); err != nil {
			return done, err
		}
		done = append(done, app.ID)
	}
	return done, runStep(ctx, r.Finish)
}

func runStep(ctx context.Context, step func(context.Context) error) error {
	if step == nil {
		return nil
	}
	return step(ctx)
}

// digest returns a digest of the paths, the old and the new texts of the changes.
func (r *Review) digest() string {
	h := sha256.New()
	add := func(c DescriptorChange) {
		_, _ = fmt.Fprintf(h, "%q %d %d\n%s%s", c.Path, len(c.Before), len(c.After), c.Before, c.After) // a hash never fails
	}
	for _, app := range r.Apps {
		add(app.Change)
	}
	for _, c := range r.Beside {
		add(c)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// newReviewMismatchError returns the error of a save if the named thing has changed since its preview.
func newReviewMismatchError(name string) *aai.Error {
	e := aai.Errorf(aai.AutomationFailed, "seen: the preview is out of date: %s changed since", name)
	e.Delivery, e.Hint = aai.NotDelivered, "Show it again, and save with the new value."
	return e
}

// partialSaveError returns an error that names the apps saved before it.
func partialSaveError(err error, done []string) error {
	e := *aai.AsError(err)
	e.Delivery = aai.NotDelivered
	if len(done) > 0 {
		e.Message += "; saved before that: " + strings.Join(done, ", ")
		e.Delivery = aai.Delivered
	}
	return &e
}

// undelivered returns the error of a source or a save, which reports NotDelivered unless it specifies the
// delivery. If the context has ended, it returns the context's error.
func undelivered(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	e := *aai.AsError(err)
	e.Delivery = cmp.Or(e.Delivery, aai.NotDelivered)
	return &e
}
