package importers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// An importRecord describes the last import for its undo. It contains no values.
type importRecord struct {
	At     time.Time     `json:"at"`
	From   string        `json:"from"` // a document, or a client's id
	Client string        `json:"client,omitempty"`
	Apps   []SavedChange `json:"apps"`
	// Vaulted lists the apps with values in the vault.
	Vaulted []string `json:"vaulted,omitempty"`
}

// maxRecord limits the record, in bytes.
const maxRecord = 1 << 20

func (r *Importer) recordFile() string { return filepath.Join(r.cfg.UndoFolder, "last-import.json") }

// saveRecord saves the record before the import begins, so that a partial import can be undone.
func (r *Importer) saveRecord(i *importRecord) error {
	if r.cfg.UndoFolder == "" {
		return nil
	}
	i.At = time.Now().UTC()
	text, err := json.Marshal(i)
	if err == nil {
		err = errors.Join(os.MkdirAll(r.cfg.UndoFolder, 0o700), atomicfile.ReplaceDurable(r.recordFile(), text))
	}
	if err != nil {
		return aai.Errorf(aai.AutomationFailed, "the undo of the import cannot be saved: %w", err)
	}
	return nil
}

// lastRecord returns the last import that was not undone.
func (r *Importer) lastRecord() (*importRecord, error) {
	text, err := atomicfile.Read(r.recordFile(), atomicfile.ReadLimits{Size: maxRecord})
	if r.cfg.UndoFolder == "" || errors.Is(err, fs.ErrNotExist) {
		return nil, aai.Errorf(aai.InvalidParams, "there is no import to undo")
	}
	var i importRecord
	if err == nil {
		err = json.Unmarshal(text, &i)
	}
	if err != nil {
		return nil, aai.Errorf(aai.AutomationFailed, "%s cannot be read: %w", r.recordFile(), err)
	}
	return &i, nil
}

// draftUndo is the [Source] that reverts the last import.
func (r *Importer) draftUndo(context.Context, *aai.Call) (*Review, error) {
	i, err := r.lastRecord()
	if err != nil {
		return nil, err
	}
	u := &answer.ImportUndo{From: i.From, At: i.At.Format(time.RFC3339), Apps: []answer.AppUndo{}, Vaulted: i.Vaulted}
	review := &Review{
		Origin:  "one of the apps, or the last import,",
		Beside:  []DescriptorChange{{Path: u.At, After: []byte(strings.Join(i.Vaulted, " "))}},
		Preview: &aai.Result{Data: u}, Seen: &u.Seen,
	}
	for _, saved := range i.Apps {
		c, err := DescriptorStore(r.cfg.Folder).PlanUndo(saved)
		if err != nil {
			return nil, err
		}
		one := answer.AppUndo{App: saved.App, Path: c.Path, Does: "as it was"}
		switch {
		case c.IsUnchanged():
		case c.After == nil:
			one.Does = "removed"
		default:
			one.Does = "put back"
			one.Diff, _ = c.Diff(false)
		}
		u.Apps, review.Apps = append(u.Apps, one), append(review.Apps, ReviewedApp{ID: saved.App, Change: c})
	}
	if i.Client != "" {
		u.Note = "The client's own file stays: aai-gateway install --rollback --client " + i.Client +
			" restores the servers that --replace took out."
	}
	var stayed []string
	review.Prepare = func(ctx context.Context) (err error) {
		stayed, err = r.restoreVault(ctx, i)
		return err
	}
	review.Finish = func(context.Context) error {
		if err := os.Remove(r.recordFile()); err != nil {
			return aai.Errorf(aai.AutomationFailed, "%s cannot be removed: %w", r.recordFile(), err)
		}
		return nil
	}
	review.Saved = func(apps []string) *aai.Result {
		words := "Undone: " + strings.Join(apps, ", ") + "."
		if len(stayed) > 0 {
			words += " Values that were changed since stay in the vault: " + strings.Join(stayed, ", ") + "."
		}
		return &aai.Result{Text: words, Data: map[string]any{"apps": apps, "values_stayed": stayed}}
	}
	return review, nil
}

// undoID is the vault id of the values before the last import.
const undoID = "import-undo"

// vaultBefore holds the vault's values of one app before and after the import.
type vaultBefore struct {
	At     time.Time         `json:"at"`
	Values []byte            `json:"values,omitempty"` // before; nil: nothing
	Wrote  []byte            `json:"wrote,omitempty"`
	Login  *aai.Recipe       `json:"login,omitempty"`
	Key    map[string]string `json:"key,omitempty"` // before; nil: nothing
	Given  string            `json:"given,omitempty"`
}

// rememberVault saves an app's previous values in the vault. It deletes those of earlier imports.
func (r *Importer) rememberVault(ctx context.Context, at time.Time, app string, edit func(*vaultBefore)) error {
	return r.cfg.Secrets.Update(ctx, undoID, func(old []byte) ([]byte, error) {
		all := make(map[string]*vaultBefore)
		_ = json.Unmarshal(old, &all) // unreadable values are useless
		for name, one := range all {
			if one == nil || !one.At.Equal(at) {
				delete(all, name)
			}
		}
		if all[app] == nil {
			all[app] = &vaultBefore{At: at}
		}
		edit(all[app])
		return json.Marshal(all)
	})
}

// restoreVault restores the vault's values from before an import. It keeps values that have
// changed since, and returns their apps.
func (r *Importer) restoreVault(ctx context.Context, i *importRecord) (stayed []string, err error) {
	if len(i.Vaulted) == 0 || r.cfg.Secrets == nil {
		return nil, nil
	}
	all := make(map[string]*vaultBefore)
	if err := r.cfg.Secrets.Update(ctx, undoID, func(old []byte) ([]byte, error) {
		_ = json.Unmarshal(old, &all) // on error, no vault values are restored
		return old, nil
	}); err != nil {
		return nil, err
	}
	for _, app := range i.Vaulted {
		one := all[app]
		if one == nil || !one.At.Equal(i.At) {
			continue // the import ended before it
		}
		same, err := r.restoreApp(ctx, app, one)
		if err != nil {
			return stayed, err
		}
		if !same {
			stayed = append(stayed, app)
		}
	}
	return stayed, r.cfg.Secrets.Update(ctx, undoID, func([]byte) ([]byte, error) { return nil, nil })
}

// restoreApp restores the vault's values of one app. It reports whether it restored all: values
// changed since stay.
func (r *Importer) restoreApp(ctx context.Context, app string, one *vaultBefore) (whole bool, err error) {
	whole = true
	if one.Wrote != nil {
		err := r.cfg.Secrets.Update(ctx, secretID(app), func(now []byte) ([]byte, error) {
			if whole = bytes.Equal(now, one.Wrote) || bytes.Equal(now, one.Values); !whole {
				return now, nil
			}
			return one.Values, nil
		})
		if err != nil {
			return whole, err
		}
	}
	if one.Login == nil || r.cfg.Logins == nil {
		return whole, nil
	}
	now, err := r.cfg.Logins.ReplaceCredentials(ctx, one.Login, one.Key)
	if err == nil && now["key"] != one.Given && now["key"] != one.Key["key"] {
		whole = false
		_, err = r.cfg.Logins.ReplaceCredentials(ctx, one.Login, now)
	}
	return whole, err
}
