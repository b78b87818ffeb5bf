// Package clients installs the gateway in the configurations of agents' clients and uninstalls
// it. A configuration is a person's file: only the gateway's entry changes, backups are stored in
// the gateway's own folder, and a plan shows the changes first.
//
// The table in function clients lists the known clients and their files. Package splice edits the
// text. An Installer asks no questions: its caller makes a Plan, shows it, asks, and applies it.
package clients

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/clients/splice"
	"github.com/gybob/aai-gateway/internal/files/atomicfile"
	"github.com/gybob/aai-gateway/internal/files/userinfo"
)

// EntryName is the gateway's name among a client's servers.
const EntryName = "aai-gateway"

// maxFile limits a configuration, in bytes. Claude Code's file contains histories.
const maxFile = 64 << 20

// Config configures an Installer.
type Config struct {
	Home   string
	Getenv func(string) string
	System string // as in runtime.GOOS
	// Folder stores backups and records.
	Folder string
	// LaunchCommand is the result of StableCommand: the absolute path of this program, or the
	// command and arguments that start it.
	LaunchCommand []string
	Now           func() time.Time
	// LockTimeout is the time to wait for another install; 0: ten seconds.
	LockTimeout time.Duration
}

// An Installer adds this gateway to clients' configurations and removes it. It is for one run of the program.
type Installer struct{ cfg Config }

// New returns an Installer. It does no I/O.
func New(cfg Config) *Installer {
	if cfg.LockTimeout == 0 {
		cfg.LockTimeout = 10 * time.Second
	}
	return &Installer{cfg: cfg}
}

// A Client is a known client program with the configuration file that it reads.
type Client struct {
	ID, Name  string
	File      string
	IsPresent bool // the client is installed on this computer
}

// Clients returns all known clients, present or not.
func (r *Installer) Clients() []Client {
	var all []Client
	for _, c := range clients() {
		file, _, here := r.clientFile(c)
		all = append(all, Client{c.id, c.name, file, here})
	}
	return all
}

// Actions of plans.
const (
	ActionAdd     = "add"     // add the entry
	ActionReplace = "replace" // replace an existing entry that differs
	ActionRemove  = "remove"  // remove the entry
	ActionRestore = "restore" // restore the previous contents, byte for byte
	ActionDelete  = "delete"  // restore the previous state, which had no file
	ActionNone    = "nothing" // nothing to change
	ActionManual  = "manual"  // the person adds the entry: Diff is its text, Link adds it in the client
)

// A Plan is a planned change of a client's file, which [Installer.Apply] carries out.
type Plan struct {
	Client   Client
	Action   string
	Diff     string // unified; other entries' texts are redacted
	Notes    []string
	NextStep string // how the person makes the client load it
	Link     string // with ActionManual: a link that the client opens; may be empty

	realPath          string // with links resolved
	at                place
	old, next         []byte
	existed, remains  bool   // the file exists before, and after
	createdFolder     string // the outermost folder created for the file
	kind              string
	needsConfirmation bool
	undoneSteps       int    // number of last steps that it reverts
	backupName        string // name of an additional backup of the current contents
}

// NeedsConfirmation reports whether a plan would revert or replace text that another writer
// changed. A person must see and confirm such a plan.
func (p *Plan) NeedsConfirmation() bool { return p.needsConfirmation }

func (r *Installer) known(id string) (client, error) {
	var ids []string
	for _, c := range clients() {
		if c.id == id {
			return c, nil
		}
		ids = append(ids, c.id)
	}
	e := aai.Errorf(aai.InvalidParams, "no client %q is known; expected one of: %s", aai.CleanLabel(id, 60),
		strings.Join(ids, ", "))
	e.Hint = "Any other client takes " + r.manualEntry() + "."
	e.Candidates = aai.Nearest(id, ids, 1)
	return client{}, e
}

// plan reads the client's file and returns a plan without an action.
func (r *Installer) plan(id string) (*Plan, client, error) {
	c, err := r.known(id)
	if err != nil {
		return nil, c, err
	}
	file, at, here := r.clientFile(c)
	p := &Plan{Client: Client{c.id, c.name, file, here}, Action: ActionNone, NextStep: c.nextStep, at: at}
	if file == "" && c.manual != nil {
		return p, c, nil
	}
	if err := r.read(p, file); err != nil {
		return nil, c, err
	}
	return p, c, nil
}

// read resolves the links of a plan's file and reads it. It rejects another user's file.
func (r *Installer) read(p *Plan, file string) error {
	p.Client.File = file
	real, err := userinfo.ResolveOwned(file)
	if errors.Is(err, fs.ErrNotExist) {
		e := aai.Errorf(aai.InvalidParams, "%s, or a folder on the way to it, is a link that leads nowhere",
			aai.CleanLabel(file, 300))
		e.Hint = "Nothing was changed. Remove the link, or make its target, and run this again."
		return e
	}
	if err != nil {
		e := aai.Errorf(aai.PermissionDenied, "%s: %w", aai.CleanLabel(file, 300), plainCause(err))
		e.Hint = "Nothing was changed. Run this as the owner of that file or link, or make it your own."
		return e
	}
	p.realPath = real
	if real != file {
		p.Notes = append(p.Notes, file+" leads to "+real)
	}
	p.old, err = atomicfile.Read(real, atomicfile.ReadLimits{Size: maxFile})
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		e := aai.Errorf(aai.InvalidParams, "%s: %w", aai.CleanLabel(file, 300), err)
		e.Hint = "Nothing was changed. Look at its permissions (ls -l), and make it a file that you can read; or add the " +
			"server by hand: " + r.manualEntry() + "."
		return e
	default:
		p.existed = true
	}
	return nil
}

// plainCause returns the cause of err without the path, which the message already has.
func plainCause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// Install plans to add the gateway to a client's configuration, or to replace its entry. The entry starts it with
// args.
func (r *Installer) Install(id string, args []string) (*Plan, error) {
	p, c, err := r.plan(id)
	if err != nil {
		return nil, err
	}
	if p.Client.File == "" && c.manual != nil {
		p.Action = ActionManual
		p.Diff, p.Link = c.manual(r.command(), r.launchArgs(args))
		return p, nil
	}
	spot := p.at.splicePlace()
	found, there, err := splice.Find(p.old, spot)
	if err == nil {
		err = r.rejection(p, c)
	}
	if _, ours := errors.AsType[*aai.Error](err); ours {
		return nil, err
	}
	if err != nil {
		return nil, r.unreadable(p.Client, err)
	}
	entry := c.fields(r.command(), r.launchArgs(args))
	ours, shown := entry, texts(entry)
	if there {
		kept, err := r.readRecord(id)
		if err != nil {
			return nil, err
		}
		if p.needsConfirmation = !r.isOwnEntry(kept, p, found); !p.needsConfirmation {
			var notes []string
			entry, notes = mergeEntry(entry, found)
			p.Notes = append(append(p.Notes, notes...), p.switchedOff(found)...)
		}
		if !p.needsConfirmation && splice.Contains(found, entry) {
			p.next, p.remains = p.old, true
			return p, nil
		}
	}
	if p.next, err = splice.Put(p.old, spot, entry); err != nil {
		return nil, r.unreadable(p.Client, err)
	}
	p.Action, p.remains, p.kind = ActionAdd, true, stepInstall
	p.Notes = append(p.Notes, r.otherEntries(p)...)
	if there {
		p.Action = ActionReplace
		if p.needsConfirmation {
			p.Notes = append(p.Notes, fmt.Sprintf("The entry %s in it is another program's, and would be lost: %s", EntryName,
				fieldNames(found)))
		}
		command, words := commandOf(found)
		shown = append(shown, showableTexts(command, words)...)
	}
	p.Diff = diffOf(p, shown)
	if !there {
		p.Diff = withEntry(p.Diff, ours)
	}
	return p, nil
}

// otherEntries returns notes about other entries that start this program.
func (r *Installer) otherEntries(p *Plan) []string {
	var notes []string
	others := splice.Others(p.old, p.at.splicePlace())
	for _, name := range slices.Sorted(maps.Keys(others)) {
		if r.startsUs(commandOf(others[name])) {
			notes = append(notes, fmt.Sprintf("%s starts this program already, as %q: it would have its tools twice. Take one "+
				"of them out.", p.Client.Name, aai.CleanLabel(name, 60)))
		}
	}
	return notes
}

// unreadable reports why a file cannot be edited.
func (r *Installer) unreadable(c Client, err error) error {
	e := aai.Errorf(aai.InvalidParams, "%s: %w", aai.CleanLabel(c.File, 300), err)
	e.Hint = fmt.Sprintf("The file was not touched, and %s reads the same one. Mend it by hand, or add the server by "+
		"hand: %s.", c.Name, r.manualEntry())
	return e
}

// Uninstall plans to remove the gateway from a client's configuration. The plan restores the previous contents if the
// file is unchanged since, and else removes only the entry. Another program's entry stays.
func (r *Installer) Uninstall(id string) (*Plan, error) {
	p, c, err := r.plan(id)
	if err != nil {
		return nil, err
	}
	if p.Client.File == "" && c.manual != nil {
		p.Notes = []string{"If the gateway is among the servers of " + c.name + ", remove it there: no file of it can be edited."}
		return p, nil
	}
	kept, err := r.readRecord(id)
	if err != nil {
		return nil, err
	}
	p.kind = stepUninstall
	if n := len(kept.Steps); n > 0 && kept.Steps[n-1].Kind == stepInstall && kept.Steps[n-1].File != p.Client.File {
		// The client reads a different file now.
		if at, known := r.placeOf(c, kept.Steps[n-1].File); known {
			p.at, p.Notes, p.old, p.existed = at, nil, nil, false
			if err := r.read(p, kept.Steps[n-1].File); err != nil {
				return nil, err
			}
		}
	}
	if first, before, was, n := r.contentBefore(kept, p); n > 0 {
		p.next, p.remains, p.Action, p.createdFolder, p.undoneSteps = before, was, restoreAction(was), first.Made, n
		p.Notes = append(p.Notes, r.remainingBackups(p, kept.Steps[:len(kept.Steps)-n])...)
		p.Diff = diffOf(p, r.ownTexts(p))
		return p, nil
	}
	spot := p.at.splicePlace()
	found, there, err := splice.Find(p.old, spot)
	if err != nil {
		return nil, r.unreadable(p.Client, err)
	}
	if !there || !r.isOwnEntry(kept, p, found) {
		p.next, p.remains, p.Notes = p.old, p.existed, nil
		if there {
			p.Notes = []string{
				fmt.Sprintf("The entry %s in it is another program's, and stays. If it is to go, take it out by hand.", EntryName),
			}
		}
		return p, nil
	}
	if p.next, err = splice.Drop(p.old, spot); err != nil {
		return nil, r.unreadable(p.Client, err)
	}
	p.Action, p.remains = ActionRemove, true
	p.Notes = append(p.Notes, r.remainingBackups(p, kept.Steps)...)
	p.Diff = diffOf(p, r.ownTexts(p))
	return p, nil
}

// Rollback plans to revert the last recorded change of a client's file.
func (r *Installer) Rollback(id string) (*Plan, error) {
	c, err := r.known(id)
	if err != nil {
		return nil, err
	}
	kept, err := r.readRecord(id)
	if err != nil {
		return nil, err
	}
	if len(kept.Steps) == 0 {
		e := aai.Errorf(aai.InvalidParams, "no change for %s is on record", c.name)
		e.Hint = "Only changes by install and uninstall can be undone."
		return nil, e
	}
	last := kept.Steps[len(kept.Steps)-1]
	_, at, here := r.clientFile(c)
	if of, known := r.placeOf(c, last.File); known {
		at = of
	}
	p := &Plan{Client: Client{ID: c.id, Name: c.name, IsPresent: here}, NextStep: c.nextStep, at: at, kind: stepRollback}
	if err := r.read(p, last.File); err != nil {
		return nil, err
	}
	if p.next, p.remains, err = r.backup(last); err != nil {
		return nil, err
	}
	p.createdFolder, p.undoneSteps = last.Made, 1
	p.Action = restoreAction(p.remains)
	switch {
	case p.existed == p.remains && bytes.Equal(p.old, p.next):
		p.Action = ActionNone
	case sum(p.old, p.existed) != last.After:
		p.needsConfirmation = true
		note := "The file was changed since, by " + c.name + " or by hand: those changes would be lost."
		if p.existed {
			p.backupName = backupName(c.id, r.cfg.Now(), sum(p.old, true))
			note += " Its current content is kept in " + r.backupFile(p.backupName)
		}
		p.Notes = append(p.Notes, note)
	}
	p.Diff = diffOf(p, r.ownTexts(p))
	return p, nil
}

// restoreAction returns the action that restores a file, or deletes it if was is false.
func restoreAction(was bool) string {
	if was {
		return ActionRestore
	}
	return ActionDelete
}

// ownTexts returns the texts of the gateway's entries that are safe to show.
func (r *Installer) ownTexts(p *Plan) []string {
	var shown []string
	for _, text := range [][]byte{p.old, p.next} {
		fields, _, _ := splice.Find(text, p.at.splicePlace()) // an unreadable entry is redacted
		command, args := commandOf(fields)
		shown = append(shown, showableTexts(command, args)...)
	}
	return shown
}
