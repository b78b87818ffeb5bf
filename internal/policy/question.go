package policy

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"aai"
	"aai/internal/hygiene"
	"aai/internal/site"
)

// Bounds on what a question shows, in bytes.
const (
	maxShown = 1500 // of a call's arguments; with more nobody is asked
	maxPath  = 120  // of a path, an id or a host
	maxName  = 40   // of a name in the title
	maxRuns  = 1600 // of what stands behind a tool: a workflow names its calls
	maxHit   = 240  // of what a call will hit
	maxSays  = 100  // of what a tool says of itself, beside the question
	maxHost  = 253  // of a host that can be (RFC 1035)
)

// question words what a person has to decide: who asks, what it would do, in which app
// or site, with which arguments. What the descriptor or the caller says is cleaned, in
// quotation marks and on lines marked as quoted. A question that could not be shown
// whole is an error.
func (c *Consent) question(r *aai.Request, old *Grant, now time.Time) (aai.Question, error) {
	w := c.words()
	text := w.whoAsks(r.Call.Caller)
	if !r.App.OperatesOthers() && r.Effect() != aai.Destroys && !r.Tool.Natural {
		text.ours(w.doesSaid, w.deed(r))
	} else {
		text.ours(w.does, w.deed(r))
	}
	if !r.App.OperatesOthers() && r.Tool.Description != "" {
		text.theirs(w.by, quoted(r.Tool.Name, 64), quoted(r.Tool.Description, maxSays))
	} else {
		text.theirs(w.byTool, quoted(r.Tool.Name, 64))
	}
	if old != nil {
		text = append(text, w.changes(r, *old)...)
	}
	where, err := w.where(r)
	if err != nil {
		return aai.Question{}, err
	}
	text = append(text, where...)
	if r.App.OperatesOthers() && r.Hit.String() != "" {
		text.theirs(w.hits, aai.CleanLabel(r.Hit.String(), maxHit))
	}
	text = append(text, w.why(r)...)
	if r.Starts() && r.Call.Target.Launch != nil {
		line := hygiene.EscapeUnseen(r.Call.Target.Launch.Line)
		if len(line) > maxShown {
			return aai.Question{}, unshown(r, fmt.Sprintf("the command has more than the %d bytes that a person can be asked about", maxShown))
		}
		text.theirs(w.pair, w.runs, aai.CleanText(line, maxShown))
	}
	with, err := w.args(r)
	if err != nil {
		return aai.Question{}, err
	}
	text = append(text, with...)
	if each := r.Call.Each; each != "" {
		list, err := written(each)
		if err != nil || len(list) > maxShown {
			return aai.Question{}, unshown(r, fmt.Sprintf("the list that it is repeated for has more than the %d bytes that a person can be asked about", maxShown))
		}
		text.ours("%s", w.forEach)
		text.theirs("%s", list)
	}
	return aai.Question{
		ID:       questionID,
		Channels: c.channels(r, r.Permission()),
		Title:    w.titleOf(r),
		Text:     strings.Join(text, "\n"),
		Details:  strings.Join(c.details(r), "\n"),
		Choices:  c.choices(r, old != nil),
		Each:     c.confirmsEach(r) || givesMore(r),
		Seal:     c.seals.seal(binding(r), now),
	}, nil
}

// whoAsks is how every question begins.
func (w words) whoAsks(c aai.Caller) lines {
	var text lines
	text.ours(w.who, w.asker(c))
	if c.Name != c.Identity || c.Principal != "" {
		text.theirs(w.calledItself, quoted(c.Name, maxName))
	}
	return text
}

// why says what made an act on a window count as one that may not be undone.
func (w words) why(r *aai.Request) lines {
	var text lines
	switch {
	case !r.Destructive || r.Permission() != aai.PermissionDestroy || r.Because == "":
	case r.Because == r.Hit.Key:
		text.ours(w.forKey, quoted(r.Because, maxName))
	default:
		text.ours(w.forWord, quoted(r.Because, maxName))
	}
	return text
}

// lines are those of a question's text.
type lines []string

// ours adds a line in the gateway's own words.
func (l *lines) ours(format string, values ...any) {
	*l = append(*l, fmt.Sprintf(format, values...))
}

// theirs adds a line with a stranger's words.
func (l *lines) theirs(format string, values ...any) {
	*l = append(*l, aai.QuoteMark+fmt.Sprintf(format, values...))
}

// titleOf asks for the permission in one line.
func (w words) titleOf(r *aai.Request) string {
	asker := w.shortAsker(r.Call.Caller)
	if !r.App.OperatesOthers() {
		return fmt.Sprintf(w.title, asker, quoted(r.Tool.Name, maxName), quoted(r.App.Name, maxName))
	}
	return fmt.Sprintf(w.titleWindows, asker, w.window(r, r.Permission()))
}

// where says which app or site is touched. The registrable domain says who answers for a
// site; it is never cut.
func (w words) where(r *aai.Request) (lines, error) {
	var text lines
	if host, id, web := strings.Cut(r.App.ID, "/"); web && fromTheWeb(r.App) {
		domain := domainOf(host)
		if len(domain) > maxHost {
			return nil, noHost(host)
		}
		text.ours(w.site, domain)
		if ascii(host) != domain {
			text.ours(w.host, middle(ascii(host), maxPath))
		}
		others, err := w.elsewhere(r.App.Hosts)
		if err != nil {
			return nil, err
		}
		text = append(text, others...)
		if r.Call.Target == r.App {
			text.theirs(w.itsApp, quoted(id, 64), quoted(r.App.Name, 60))
			return text, nil
		}
	}
	program := plain(r.Call.Target.ID)
	if r.Call.Target.Source != "" && (r.App.OperatesOthers() || r.Call.Target != r.App) {
		program += ", " + plain(r.Call.Target.Source)
	}
	if r.OnScreen() {
		text.ours("%s", w.onScreen)
		return text, nil
	}
	text.ours(w.in, program)
	text.theirs(w.calledItself, quoted(r.Call.Target.Name, 60))
	if r.Call.Target.Host {
		text.ours("%s", w.isHost)
	}
	return text, nil
}

// elsewhere says to which other sites an app sends data.
func (w words) elsewhere(hosts []string) (lines, error) {
	var text lines
	var domains []string
	for _, host := range hosts {
		domain := domainOf(host)
		if len(domain) > maxHost {
			return nil, noHost(host)
		}
		if !slices.Contains(domains, domain) {
			domains = append(domains, domain)
			text.ours(w.alsoTo, domain)
		}
	}
	return text, nil
}

// domainOf is the registrable domain of a host, or the host itself where it has none, in
// letters that cannot look like others.
func domainOf(host string) string {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	if domain := site.Domain(name); domain != "" {
		return ascii(domain)
	}
	return ascii(host)
}

// details is where all of it comes from, and what would run.
func (c *Consent) details(r *aai.Request) lines {
	w := c.words()
	var text lines
	if c.store.Keeps() != nil {
		text.ours("%s", w.notKept)
	}
	if r.Call.Target.Source != "" {
		text.ours(w.from, plain(r.Call.Target.Source))
	}
	text.ours(w.id, plain(r.Call.Target.ID))
	if r.App.BaseURL != "" {
		text.ours(w.callsGo, plain(r.App.BaseURL))
	}
	for _, host := range r.App.Hosts {
		text.ours(w.alsoTo, middle(ascii(host), maxPath))
	}
	text.ours(w.door, plain(r.Call.Caller.Door))
	text.theirs(w.pair, w.tool, quoted(r.Tool.Name, 64))
	if r.Tool.Description != "" {
		text.theirs(w.pair, w.says, quoted(r.Tool.Description, 300))
	}
	if r.Tool.Runs != "" {
		text.theirs(w.pair, w.runs, quoted(r.Tool.Runs, maxRuns))
	}
	return text
}

// choices are the answers that the request leaves a person. The refusal comes first, and
// then what windows with room for one answer offer at once: "always" in the common case,
// where something of this computer reads or changes what can be changed back, and is
// what it was; else "once". "This session" is offered where there is one, and "all"
// where all of it may be asked in the same way. What nothing could keep is not offered.
func (c *Consent) choices(r *aai.Request, changed bool) []aai.Choice {
	w := c.words()
	deny, once := aai.Choice{ID: choiceDeny, Label: w.deny}, aai.Choice{ID: choiceOnce, Label: w.once}
	if c.confirmsEach(r) || c.onlyNow(r) || givesMore(r) {
		return []aai.Choice{deny, once}
	}
	kept := c.store.Keeps() == nil
	known := r.Call.Caller.Identity != "" && kept // else nobody knows who would have it for good
	never := aai.Choice{ID: choiceNever, Label: w.never, Refuses: true}
	always := aai.Choice{ID: choiceAlways, Label: w.always}
	common := riskOf(r, r.Permission()) < forGood && !changed && !fromTheWeb(r.App)
	offered := []aai.Choice{deny, once}
	if known && common {
		offered = []aai.Choice{deny, always, once}
	}
	if r.Call.Caller.Session != "" {
		offered = append(offered, aai.Choice{ID: choiceSession, Label: w.session})
	}
	if !kept {
		return offered
	}
	if !known {
		return append(offered, never)
	}
	if !common {
		offered = append(offered, always) // what holds for longer stands further from the finger
	}
	if all := permissions(r); len(all) > 1 && c.askedAlike(r, all) {
		label := w.allWindows
		if !r.App.OperatesOthers() {
			label = fmt.Sprintf(w.all, len(all))
		}
		offered = append(offered, aai.Choice{ID: choiceAll, Label: label})
	}
	return append(offered, never)
}

// askedAlike reports whether all the permissions may be asked for in every way in
// which this one may: a yes by way of a client must not cover what a client may
// not ask.
func (c *Consent) askedAlike(r *aai.Request, all []string) bool {
	return c.channels(r, r.Permission())[0] != aai.Client || !slices.ContainsFunc(all, func(permission string) bool {
		return !slices.Contains(c.channels(r, permission), aai.Client)
	})
}

// binding is what an answer is bound to: who asks for what, exactly.
func binding(r *aai.Request) [sha256.Size]byte {
	var hit aai.Hit
	if r.Destructive {
		hit = r.Hit // the person said yes to this one
	}
	b, err := json.Marshal([]any{r.Call.Caller, r.App.ID, r.Call.Target.ID, r.Digest(), r.Tool.Name, r.Call.Args, r.Call.Each, r.Permission(), hit})
	if err != nil {
		// Arguments come from JSON, so this cannot be; if it is, no answer fits.
		b = []byte(rand.Text())
	}
	return sha256.Sum256(b)
}
