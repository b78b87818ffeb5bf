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

// The kinds of steps. A rollback takes the last one back, and is none itself.
const (
	stepInstall   = "install"
	stepUninstall = "uninstall"
	stepRollback  = "rollback"
)

// maxSteps is how many changes of a client's file are kept.
const maxSteps = 20

// A step is one change of a file.
type step struct {
	Kind   string `json:"kind"`
	File   string `json:"file"`
	Backup string `json:"backup,omitempty"` // the name of what was there; empty: nothing was
	Before string `json:"before"`           // the sum of what was there, "" if nothing was
	After  string `json:"after"`            // the sum of what was written, "" if nothing was left
	Made   string `json:"made,omitempty"`   // the outermost folder that was made for it
	// Command is what an installed entry starts: by it the entry is known to be ours.
	Command string    `json:"command,omitempty"`
	At      time.Time `json:"at"`
}

// A history is what was done to a client's file, the oldest first.
type clientRecord struct {
	Steps []step `json:"steps"`
}

// sum tells contents apart; that of no file is empty.
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

// lock waits until no other process changes this client's file by this program.
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
	e.Hint = "Wait until it has ended, or end it; then do the same again."
	return nil, e
}

// readRecord is what is known of a client's file.
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

// saveRecord writes a record, and forgets backups that are too old.
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
		return aai.Errorf(aai.AutomationFailed, "the record of what was changed cannot be written: %w", err)
	}
	r.forget(old, kept.Steps)
	return nil
}

// forget removes the backups of steps, but for those that others need.
func (r *Installer) forget(gone, rest []step) {
	for _, s := range gone {
		if s.Backup != "" && !slices.ContainsFunc(rest, func(k step) bool { return k.Backup == s.Backup }) {
			_ = os.Remove(r.backupFile(s.Backup)) // whoever can read it can read the file that it is of
		}
	}
}

// remainingBackups says which backups stay when a plan is done, of steps that it does not take back:
// all that was in a client's file is in them.
func (r *Installer) remainingBackups(p *Plan, rest []step) []string {
	if p.undoneSteps > 0 && !slices.ContainsFunc(rest, func(s step) bool { return s.Backup != "" }) {
		return nil
	}
	return []string{"What was in the file, its keys too, stays in the backups " + r.backupFile(p.Client.ID+"-*")}
}

// backUp keeps what a plan's file has, in this program's own folder.
func (r *Installer) backUp(p *Plan) (step, error) {
	now := r.cfg.Now()
	s := step{Kind: p.kind, File: p.Client.File, Before: sum(p.old, p.existed), After: sum(p.next, p.remains), Made: outermostMissing(p.realPath), At: now.UTC()}
	if p.kind == stepInstall && len(r.cfg.LaunchCommand) == 1 { // npx starts others too
		s.Command = r.command()
	}
	if !p.existed {
		return s, nil
	}
	s.Backup = backupName(p.Client.ID, now, s.Before)
	return s, r.saveBackup(s.Backup, p)
}

// backupName is what a backup is called, made at a time, of a content with that sum.
func backupName(id string, at time.Time, sum string) string {
	return fmt.Sprintf("%s-%s-%s", id, at.UTC().Format("20060102T150405.000000000"), sum[:8])
}

// saveBackup keeps what a plan's file has under a name.
func (r *Installer) saveBackup(name string, p *Plan) error {
	if err := atomicfile.ReplaceDurable(r.backupFile(name), p.old); err != nil {
		e := aai.Errorf(aai.AutomationFailed, "what is in %s cannot be backed up: %w", aai.CleanLabel(p.Client.File, 300), err)
		e.Hint = "Nothing was changed. Make room, or make the folder writable."
		return e
	}
	return nil
}

// backup is what a file had before a step, and whether there was one.
func (r *Installer) backup(s step) (content []byte, was bool, err error) {
	if s.Backup == "" {
		return nil, false, nil
	}
	content, err = atomicfile.Read(r.backupFile(s.Backup), atomicfile.ReadLimits{Size: maxFile})
	if err == nil && sum(content, true) != s.Before {
		err = errors.New("it is not what was kept")
	}
	if err != nil {
		return nil, false, aai.Errorf(aai.AutomationFailed, "the backup %s: %w", r.backupFile(s.Backup), err)
	}
	return content, true, nil
}

// contentBefore is what a plan's file had before it was installed into, if it is still as the last
// step left it; the first step since; and how many there were, 0 if it is not.
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

// LastClient is the client whose file was changed last, "" if none was.
func (r *Installer) LastClient() string {
	var last string
	var when time.Time
	for _, c := range clients() {
		kept, err := r.readRecord(c.id)
		if err != nil || len(kept.Steps) == 0 {
			continue // a record that cannot be read is said where it is asked for
		}
		if at := kept.Steps[len(kept.Steps)-1].At; last == "" || at.After(when) {
			last, when = c.id, at
		}
	}
	return last
}
