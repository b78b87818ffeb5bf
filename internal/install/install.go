// Package install puts the gateway into the configurations of agents' clients and takes it
// out again. A configuration is a person's file: nothing in it changes but our entry, what
// was there is kept in our own folder before, and what would change is shown first.
//
// The room knows where clients keep which MCP servers they start (one table, see clients),
// and package splice how an entry goes into a text. It asks nobody: whoever uses it plans,
// shows the plan, asks, and has it done.
package install

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"aai"
	"aai/internal/account"
	"aai/internal/install/splice"
	"aai/internal/wholefile"
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
	// Launch is what entries start this program by, as StableCommand says: its absolute path,
	// or what starts it and its arguments.
	Launch []string
	Now    func() time.Time
	// Patience is how long another install is waited for, 0: ten seconds.
	Patience time.Duration
}

// A Room installs and uninstalls. It is for one run of the program.
type Room struct{ cfg Config }

// New returns a room.
func New(cfg Config) *Room {
	if cfg.Patience == 0 {
		cfg.Patience = 10 * time.Second
	}
	return &Room{cfg: cfg}
}

// A Client is one that is known.
type Client struct {
	ID, Name string
	File     string
	Here     bool // something of it is on this computer
}

// Clients are all that are known, those that are here or not.
func (r *Room) Clients() []Client {
	var all []Client
	for _, c := range clients() {
		file, _, here := r.where(c)
		all = append(all, Client{c.id, c.name, file, here})
	}
	return all
}

// What a plan does.
const (
	Add     = "add"     // the entry comes in
	Replace = "replace" // the entry is there, and is another one
	Remove  = "remove"  // the entry goes
	Restore = "restore" // the file becomes what it was, byte for byte
	Delete  = "delete"  // so it does, and that is no file
	Nothing = "nothing" // all is as it should be
)

// A Plan is what would be done with one file. Nothing has been done yet.
type Plan struct {
	Client Client
	Does   string
	Diff   string // unified; the texts of others in it are veiled
	Notes  []string
	After  string // what the person does for the client to see it

	real       string // where the file really is
	at         place
	old, next  []byte
	was, stays bool   // a file was there, and will be
	made       string // the outermost folder that is made for the file, or was
	kind       string
	doubtful   bool
	undoes     int    // how many of the last steps it takes back
	keep       string // where what the file has is kept besides: the name of a backup
}

// Doubtful reports whether a plan would undo or replace what somebody else wrote: to say yes
// to that takes a person who has seen it.
func (p *Plan) Doubtful() bool { return p.doubtful }

func (r *Room) known(id string) (client, error) {
	var ids []string
	for _, c := range clients() {
		if c.id == id {
			return c, nil
		}
		ids = append(ids, c.id)
	}
	e := aai.Errorf(aai.InvalidParams, "no client %q is known; expected one of: %s", aai.CleanLabel(id, 60), strings.Join(ids, ", "))
	e.Hint = "Any other client takes " + r.byHand() + "."
	e.Candidates = aai.Nearest(id, ids, 1)
	return client{}, e
}

// plan begins one: it reads the client's file.
func (r *Room) plan(id string) (*Plan, client, error) {
	c, err := r.known(id)
	if err != nil {
		return nil, c, err
	}
	file, at, here := r.where(c)
	p := &Plan{Client: Client{c.id, c.name, file, here}, Does: Nothing, After: c.after, at: at}
	if err := r.read(p, file); err != nil {
		return nil, c, err
	}
	return p, c, nil
}

// read reads a plan's file.
func (r *Room) read(p *Plan, file string) error {
	p.Client.File = file
	real, err := account.Reach(file)
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
	p.real = real
	if real != file {
		p.Notes = append(p.Notes, file+" leads to "+real)
	}
	p.old, err = wholefile.Read(real, wholefile.Limits{Size: maxFile})
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		e := aai.Errorf(aai.InvalidParams, "%s: %w", aai.CleanLabel(file, 300), err)
		e.Hint = "Nothing was changed. Look at what is there (ls -l), and make it a file that you can read; or add the server by hand: " + r.byHand() + "."
		return e
	default:
		p.was = true
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
func (r *Room) Install(id string, args []string) (*Plan, error) {
	p, c, err := r.plan(id)
	if err != nil {
		return nil, err
	}
	spot := p.at.spot()
	found, there, err := splice.Find(p.old, spot)
	if err != nil {
		return nil, r.unreadable(p.Client, err)
	}
	entry := c.fields(r.command(), r.with(args))
	ours, shown := entry, texts(entry)
	if there {
		kept, err := r.record(id)
		if err != nil {
			return nil, err
		}
		if p.doubtful = !r.isOurs(kept, p, found); !p.doubtful {
			var notes []string
			entry, notes = withTheirs(entry, found)
			p.Notes = append(p.Notes, notes...)
		}
		if !p.doubtful && splice.Has(found, entry) {
			p.next, p.stays = p.old, true
			return p, nil
		}
	}
	if p.next, err = splice.Put(p.old, spot, entry); err != nil {
		return nil, r.unreadable(p.Client, err)
	}
	p.Does, p.stays, p.kind = Add, true, stepInstall
	p.Notes = append(p.Notes, r.again(p)...)
	if there {
		p.Does = Replace
		if p.doubtful {
			p.Notes = append(p.Notes, fmt.Sprintf("The entry %s in it is another program's, and would be lost: %s", EntryName, fieldNames(found)))
		}
		command, words := commandOf(found)
		shown = append(shown, harmless(command, words)...)
	}
	p.Diff = diffOf(p, shown)
	if !there {
		p.Diff = withEntry(p.Diff, ours)
	}
	return p, nil
}

// again says which other entries start this program already.
func (r *Room) again(p *Plan) []string {
	var notes []string
	others := splice.Others(p.old, p.at.spot())
	for _, name := range slices.Sorted(maps.Keys(others)) {
		if r.startsUs(commandOf(others[name])) {
			notes = append(notes, fmt.Sprintf("%s starts this program already, as %q: it would have its tools twice. Take one of them out.", p.Client.Name, aai.CleanLabel(name, 60)))
		}
	}
	return notes
}

// unreadable is why a file is not touched.
func (r *Room) unreadable(c Client, err error) error {
	e := aai.Errorf(aai.InvalidParams, "%s: %w", aai.CleanLabel(c.File, 300), err)
	e.Hint = fmt.Sprintf("The file was not touched, and %s reads the same one. Mend it by hand, or add the server by hand: %s.", c.Name, r.byHand())
	return e
}

// Uninstall plans to take the gateway out of a client's configuration: to put back what was
// there before, if nobody changed the file since, or else to take out the entry alone.
func (r *Room) Uninstall(id string) (*Plan, error) {
	p, c, err := r.plan(id)
	if err != nil {
		return nil, err
	}
	kept, err := r.record(id)
	if err != nil {
		return nil, err
	}
	p.kind = stepUninstall
	if n := len(kept.Steps); n > 0 && kept.Steps[n-1].Kind == stepInstall && kept.Steps[n-1].File != p.Client.File {
		// The client reads another file by now.
		if at, known := r.placeOf(c, kept.Steps[n-1].File); known {
			p.at, p.Notes, p.old, p.was = at, nil, nil, false
			if err := r.read(p, kept.Steps[n-1].File); err != nil {
				return nil, err
			}
		}
	}
	if first, before, was, n := r.before(kept, p); n > 0 {
		p.next, p.stays, p.Does, p.made, p.undoes = before, was, restores(was), first.Made, n
		p.Notes = append(p.Notes, r.leftOf(p, kept.Steps[:len(kept.Steps)-n])...)
		p.Diff = diffOf(p, r.ours(p))
		return p, nil
	}
	spot := p.at.spot()
	found, there, err := splice.Find(p.old, spot)
	if err != nil {
		return nil, r.unreadable(p.Client, err)
	}
	if !there || !r.isOurs(kept, p, found) {
		p.next, p.stays, p.Notes = p.old, p.was, nil
		if there {
			p.Notes = []string{fmt.Sprintf("The entry %s in it is another program's, and stays. If it is to go, take it out by hand.", EntryName)}
		}
		return p, nil
	}
	if p.next, err = splice.Drop(p.old, spot); err != nil {
		return nil, r.unreadable(p.Client, err)
	}
	p.Does, p.stays = Remove, true
	p.Notes = append(p.Notes, r.leftOf(p, kept.Steps)...)
	p.Diff = diffOf(p, r.ours(p))
	return p, nil
}

// Rollback plans to make a client's file what it was before the last change of this room's.
func (r *Room) Rollback(id string) (*Plan, error) {
	c, err := r.known(id)
	if err != nil {
		return nil, err
	}
	kept, err := r.record(id)
	if err != nil {
		return nil, err
	}
	if len(kept.Steps) == 0 {
		e := aai.Errorf(aai.InvalidParams, "nothing that was changed for %s is on record", c.name)
		e.Hint = "install and uninstall say what they change; without them there is nothing to take back."
		return nil, e
	}
	last := kept.Steps[len(kept.Steps)-1]
	_, at, here := r.where(c)
	if of, known := r.placeOf(c, last.File); known {
		at = of
	}
	p := &Plan{Client: Client{ID: c.id, Name: c.name, Here: here}, After: c.after, at: at, kind: stepRollback}
	if err := r.read(p, last.File); err != nil {
		return nil, err
	}
	if p.next, p.stays, err = r.backup(last); err != nil {
		return nil, err
	}
	p.made, p.undoes = last.Made, 1
	p.Does = restores(p.stays)
	switch {
	case p.was == p.stays && bytes.Equal(p.old, p.next):
		p.Does = Nothing
	case sum(p.old, p.was) != last.After:
		p.doubtful = true
		note := "The file was changed since, by " + c.name + " or by hand: what was changed would go from it."
		if p.was {
			p.keep = backupName(c.id, r.cfg.Now(), sum(p.old, true))
			note += " What it has now is kept in " + r.backupFile(p.keep)
		}
		p.Notes = append(p.Notes, note)
	}
	p.Diff = diffOf(p, r.ours(p))
	return p, nil
}

// restores is what a plan does that makes a file what it was.
func restores(was bool) string {
	if was {
		return Restore
	}
	return Delete
}

// ours are the texts of entries in a plan's file that may be shown.
func (r *Room) ours(p *Plan) []string {
	var shown []string
	for _, text := range [][]byte{p.old, p.next} {
		fields, _, _ := splice.Find(text, p.at.spot()) // what cannot be read is veiled
		command, args := commandOf(fields)
		shown = append(shown, harmless(command, args)...)
	}
	return shown
}
