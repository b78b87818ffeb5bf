package clients

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// Kinds of steps. A rollback reverts the last step and is not recorded as one.
const (
	stepInstall   = "install"
	stepUninstall = "uninstall"
	stepRollback  = "rollback"
)

// maxSteps limits the recorded changes of a client's file.
const maxSteps = 20

// A step is one change of a file.
type step struct {
	Kind   string `json:"kind"`
	File   string `json:"file"`
	Backup string `json:"backup,omitempty"` // name of the backup; empty: there was no file
	Before string `json:"before"`           // digest of the previous contents, "" if none
	After  string `json:"after"`            // digest of the written contents, "" if deleted
	Made   string `json:"made,omitempty"`   // the outermost folder created for it
	// Command is the command of an installed entry. It identifies the entry as the gateway's.
	Command string    `json:"command,omitempty"`
	At      time.Time `json:"at"`
}

// A clientRecord is the history of a client's file, oldest step first.
type clientRecord struct {
	Steps []step `json:"steps"`
}

// sum returns the digest of contents, or "" if there is no file.
func sum(content []byte, there bool) string {
	if !there {
		return ""
	}
	s := sha256.Sum256(content)
	return hex.EncodeToString(s[:])
}

func (r *Installer) recordFile(id string) string { return filepath.Join(r.cfg.Folder, id+".json") }

func (r *Installer) backupFile(name string) string {
	return filepath.Join(r.cfg.Folder, "backups", filepath.Base(name))
}

// lock waits until no other process of this program changes the client's file.
func (r *Installer) lock(ctx context.Context, id string) (func(), error) {
	if err := os.MkdirAll(filepath.Join(r.cfg.Folder, "backups"), 0o700); err != nil {
		return nil, fmt.Errorf("the folder of backups: %w", err)
	}
	waiting, cancel := context.WithTimeout(ctx, r.cfg.LockTimeout)
	defer cancel()
	unlock, err := atomicfile.Lock(waiting, r.recordFile(id))
	if err == nil || ctx.Err() != nil || waiting.Err() == nil {
		return unlock, err
	}
	e := aai.Errorf(aai.AutomationFailed, "another install, uninstall or rollback for %s runs; nothing was written", id)
	e.Hint = "Wait until it has ended, or end it; then run this again."
	return nil, e
}

// readRecord reads the record of a client's file.
func (r *Installer) readRecord(id string) (*clientRecord, error) {
	file := r.recordFile(id)
	text, err := atomicfile.Read(file, atomicfile.ReadLimits{Size: 1 << 20})
	if errors.Is(err, fs.ErrNotExist) {
		return &clientRecord{}, nil
	}
	var kept clientRecord
	if err == nil {
		err = json.Unmarshal(text, &kept)
	}
	if err != nil {
		e := aai.Errorf(aai.InvalidParams, "%s: %w", aai.CleanLabel(file, 300), err)
		e.Hint = "That is this program's own record. Move it away; the backups are in the folder backups beside it."
		return nil, e
	}
	return &kept, nil
}

// saveRecord writes a record and deletes backups of dropped steps.
func (r *Installer) saveRecord(id string, kept *clientRecord) error {
	var old []step
	if n := len(kept.Steps) - maxSteps; n > 0 {
		old, kept.Steps = kept.Steps[:n], kept.Steps[n:]
	}
	text, err := json.MarshalIndent(kept, "", "  ")
	if err == nil {
		err = atomicfile.ReplaceDurable(r.recordFile(id), append(text, '\n'))
	}
	if err != nil {
		return aai.Errorf(aai.AutomationFailed, "the record of the change cannot be written: %w", err)
	}
	r.forget(old, kept.Steps)
	return nil
}

// forget removes the backups of steps, except those that other steps use.
func (r *Installer) forget(gone, rest []step) {
	for _, s := range gone {
		if s.Backup != "" && !slices.ContainsFunc(rest, func(k step) bool { return k.Backup == s.Backup }) {
			_ = os.Remove(r.backupFile(s.Backup)) // the backup's readers can read the original file too
		}
	}
}

// remainingBackups returns a note about the backups that remain after a plan, from steps that it
// does not revert. They contain the client's whole file.
func (r *Installer) remainingBackups(p *Plan, rest []step) []string {
	if p.undoneSteps > 0 && !slices.ContainsFunc(rest, func(s step) bool { return s.Backup != "" }) {
		return nil
	}
	return []string{"The old content of the file, its keys too, stays in the backups " + r.backupFile(p.Client.ID+"-*")}
}

// backUp saves the current contents of a plan's file in this program's own folder.
func (r *Installer) backUp(p *Plan) (step, error) {
	now := r.cfg.Now()
	s := step{Kind: p.kind, File: p.Client.File, Before: sum(p.old, p.existed), After: sum(p.next, p.remains),
		Made: outermostMissing(p.realPath), At: now.UTC()}
	if p.kind == stepInstall && len(r.cfg.LaunchCommand) == 1 { // npx starts other programs too
		s.Command = r.command()
	}
	if !p.existed {
		return s, nil
	}
	s.Backup = backupName(p.Client.ID, now, s.Before)
	return s, r.saveBackup(s.Backup, p)
}

// backupName returns the name of a backup made at a time, with that digest.
func backupName(id string, at time.Time, sum string) string {
	return fmt.Sprintf("%s-%s-%s", id, at.UTC().Format("20060102T150405.000000000"), sum[:8])
}

// saveBackup saves the current contents of a plan's file under a name.
func (r *Installer) saveBackup(name string, p *Plan) error {
	if err := atomicfile.ReplaceDurable(r.backupFile(name), p.old); err != nil {
		e := aai.Errorf(aai.AutomationFailed, "%s cannot be backed up: %w", aai.CleanLabel(p.Client.File, 300), err)
		e.Hint = "Nothing was changed. Free disk space, or make the folder writable."
		return e
	}
	return nil
}

// backup returns the contents before a step, and whether there was a file.
func (r *Installer) backup(s step) (content []byte, was bool, err error) {
	if s.Backup == "" {
		return nil, false, nil
	}
	content, err = atomicfile.Read(r.backupFile(s.Backup), atomicfile.ReadLimits{Size: maxFile})
	if err == nil && sum(content, true) != s.Before {
		err = errors.New("it was changed since")
	}
	if err != nil {
		return nil, false, aai.Errorf(aai.AutomationFailed, "the backup %s: %w", r.backupFile(s.Backup), err)
	}
	return content, true, nil
}

// contentBefore returns the contents before the gateway was installed, if the file is unchanged since the
// last step. It also returns the first step since and the number of steps; 0 if changed.
func (r *Installer) contentBefore(kept *clientRecord, p *Plan) (first step, content []byte, was bool, steps int) {
	content, was = p.old, p.existed
	for _, s := range slices.Backward(kept.Steps) {
		if s.Kind != stepInstall || s.File != p.Client.File || s.After != sum(content, was) {
			break
		}
		earlier, there, err := r.backup(s)
		if err != nil {
			break
		}
		first, content, was = s, earlier, there
		steps++
	}
	return first, bytes.Clone(content), was, steps
}

// LastClient returns the ID of the client with the latest recorded change, or "".
func (r *Installer) LastClient() string {
	var last string
	var when time.Time
	for _, c := range clients() {
		kept, err := r.readRecord(c.id)
		if err != nil || len(kept.Steps) == 0 {
			continue // an unreadable record is an error where it is needed
		}
		if at := kept.Steps[len(kept.Steps)-1].At; last == "" || at.After(when) {
			last, when = c.id, at
		}
	}
	return last
}
