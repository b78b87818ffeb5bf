// Package install puts the gateway into the configurations of agents' clients and takes it
// out again. A configuration is a person's file: nothing in it changes but our entry, what
// was there is kept in our own folder before, and what would change is shown first.
//
// The room knows where clients keep which MCP servers they start (one table, see clients),
// and package splice how an entry goes into a text. It asks nobody: whoever uses it plans,
// shows the plan, asks, and has it done.
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

// EntryName is what the gateway is called among a client's servers.
const EntryName = "aai-gateway"

// maxFile is how much of a configuration is read: that of Claude Code keeps histories.
const maxFile = 64 << 20

// A Config says on what the room works.
type Config struct {
	Home   string
	Getenv func(string) string
	System string // as runtime.GOOS
	// Folder is where backups and records are kept.
	Folder string
	// LaunchCommand is what entries start this program by, as StableCommand says: its absolute path,
	// or what starts it and its arguments.
	LaunchCommand []string
	Now           func() time.Time
	// LockTimeout is how long another install is waited for, 0: ten seconds.
	LockTimeout time.Duration
}

// A Room installs and uninstalls. It is for one run of the program.
type Installer struct{ cfg Config }

// New returns a room.
func New(cfg Config) *Installer {
	if cfg.LockTimeout == 0 {
		cfg.LockTimeout = 10 * time.Second
	}
	return &Installer{cfg: cfg}
}

// A Client is one that is known.
type Client struct {
	ID, Name  string
	File      string
	IsPresent bool // something of it is on this computer
}

// Clients are all that are known, those that are here or not.
func (r *Installer) Clients() []Client {
	var all []Client
	for _, c := range clients() {
		file, _, here := r.clientFile(c)
		all = append(all, Client{c.id, c.name, file, here})
	}
	return all
}

// What a plan does.
const (
	ActionAdd     = "add"     // the entry comes in
	ActionReplace = "replace" // the entry is there, and is another one
	ActionRemove  = "remove"  // the entry goes
	ActionRestore = "restore" // the file becomes what it was, byte for byte
	ActionDelete  = "delete"  // so it does, and that is no file
	ActionNone    = "nothing" // all is as it should be
)

// A Plan is what would be done with one file. Nothing has been done yet.
type Plan struct {
	Client Client
	Action string
	Diff   string // unified; the texts of others in it are veiled
	Notes  []string
	After  string // what the person does for the client to see it

	realPath          string // where the file really is
	at                place
	old, next         []byte
	existed, remains  bool   // a file was there, and will be
	createdFolder     string // the outermost folder that is made for the file, or was
	kind              string
	needsConfirmation bool
	undoneSteps       int    // how many of the last steps it takes back
	backupName        string // where what the file has is kept besides: the name of a backup
}

// NeedsConfirmation reports whether a plan would undo or replace what somebody else wrote: to say yes
// to that takes a person who has seen it.
func (p *Plan) NeedsConfirmation() bool { return p.needsConfirmation }

func (r *Installer) known(id string) (client, error) {
	var ids []string
	for _, c := range clients() {
		if c.id == id {
			return c, nil
		}
		ids = append(ids, c.id)
	}
	e := aai.Errorf(aai.InvalidParams, "no client %q is known; expected one of: %s", aai.CleanLabel(id, 60), strings.Join(ids, ", "))
	e.Hint = "Any other client takes " + r.manualEntry() + "."
	e.Candidates = aai.Nearest(id, ids, 1)
	return client{}, e
}

// plan begins one: it reads the client's file.
func (r *Installer) plan(id string) (*Plan, client, error) {
	c, err := r.known(id)
	if err != nil {
		return nil, c, err
	}
	file, at, here := r.clientFile(c)
	p := &Plan{Client: Client{c.id, c.name, file, here}, Action: ActionNone, After: c.nextStep, at: at}
	if err := r.read(p, file); err != nil {
		return nil, c, err
	}
	return p, c, nil
}

// read reads a plan's file.
func (r *Installer) read(p *Plan, file string) error {
	p.Client.File = file
	real, err := userinfo.ResolveOwned(file)
	if errors.Is(err, fs.ErrNotExist) {
		e := aai.Errorf(aai.InvalidParams, "%s, or a folder on the way to it, is a link that leads nowhere", aai.CleanLabel(file, 300))
		e.Hint = "Nothing was changed. Remove the link, or make what it leads to, and do the same again."
		return e
	}
	if err != nil {
		e := aai.Errorf(aai.PermissionDenied, "%s: %w", aai.CleanLabel(file, 300), plainCause(err))
		e.Hint = "Nothing was changed. Look at whose file or link that is; run this as its owner, or make it your own."
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
		e.Hint = "Nothing was changed. Look at what is there (ls -l), and make it a file that you can read; or add the server by hand: " + r.manualEntry() + "."
		return e
	default:
		p.existed = true
	}
	return nil
}

// plainCause is an error without the path that it would say twice.
func plainCause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// Install plans to put the gateway into a client's configuration.
func (r *Installer) Install(id string, args []string) (*Plan, error) {
	p, c, err := r.plan(id)
	if err != nil {
		return nil, err
	}
	spot := p.at.splicePlace()
	found, there, err := splice.Find(p.old, spot)
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
			p.Notes = append(p.Notes, notes...)
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
			p.Notes = append(p.Notes, fmt.Sprintf("The entry %s in it is another program's, and would be lost: %s", EntryName, fieldNames(found)))
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

// otherEntries says which other entries start this program already.
func (r *Installer) otherEntries(p *Plan) []string {
	var notes []string
	others := splice.Others(p.old, p.at.splicePlace())
	for _, name := range slices.Sorted(maps.Keys(others)) {
		if r.startsUs(commandOf(others[name])) {
			notes = append(notes, fmt.Sprintf("%s starts this program already, as %q: it would have its tools twice. Take one of them out.", p.Client.Name, aai.CleanLabel(name, 60)))
		}
	}
	return notes
}

// unreadable is why a file is not touched.
func (r *Installer) unreadable(c Client, err error) error {
	e := aai.Errorf(aai.InvalidParams, "%s: %w", aai.CleanLabel(c.File, 300), err)
	e.Hint = fmt.Sprintf("The file was not touched, and %s reads the same one. Mend it by hand, or add the server by hand: %s.", c.Name, r.manualEntry())
	return e
}

// Uninstall plans to take the gateway out of a client's configuration: to put back what was
// there before, if nobody changed the file since, or else to take out the entry alone.
func (r *Installer) Uninstall(id string) (*Plan, error) {
	p, c, err := r.plan(id)
	if err != nil {
		return nil, err
	}
	kept, err := r.readRecord(id)
	if err != nil {
		return nil, err
	}
	p.kind = stepUninstall
	if n := len(kept.Steps); n > 0 && kept.Steps[n-1].Kind == stepInstall && kept.Steps[n-1].File != p.Client.File {
		// The client reads another file by now.
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
			p.Notes = []string{fmt.Sprintf("The entry %s in it is another program's, and stays. If it is to go, take it out by hand.", EntryName)}
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

// Rollback plans to make a client's file what it was before the last change of this room's.
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
		e := aai.Errorf(aai.InvalidParams, "nothing that was changed for %s is on record", c.name)
		e.Hint = "install and uninstall say what they change; without them there is nothing to take back."
		return nil, e
	}
	last := kept.Steps[len(kept.Steps)-1]
	_, at, here := r.clientFile(c)
	if of, known := r.placeOf(c, last.File); known {
		at = of
	}
	p := &Plan{Client: Client{ID: c.id, Name: c.name, IsPresent: here}, After: c.nextStep, at: at, kind: stepRollback}
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
		note := "The file was changed since, by " + c.name + " or by hand: what was changed would go from it."
		if p.existed {
			p.backupName = backupName(c.id, r.cfg.Now(), sum(p.old, true))
			note += " What it has now is kept in " + r.backupFile(p.backupName)
		}
		p.Notes = append(p.Notes, note)
	}
	p.Diff = diffOf(p, r.ownTexts(p))
	return p, nil
}

// restoreAction is what a plan does that makes a file what it was.
func restoreAction(was bool) string {
	if was {
		return ActionRestore
	}
	return ActionDelete
}

// ownTexts are the texts of entries in a plan's file that may be shown.
func (r *Installer) ownTexts(p *Plan) []string {
	var shown []string
	for _, text := range [][]byte{p.old, p.next} {
		fields, _, _ := splice.Find(text, p.at.splicePlace()) // what cannot be read is veiled
		command, args := commandOf(fields)
		shown = append(shown, showableTexts(command, args)...)
	}
	return shown
}
