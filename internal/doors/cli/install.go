package cli

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
)

// The changes of an MCP client's configuration, as values of act in Clients.Plan.
const (
	ClientInstall   = "install"
	ClientUninstall = "uninstall"
	ClientRollback  = "rollback"
)

// The extension of GNOME Shell: its id for Clients.Plan, and its identifier in GNOME.
const (
	ShellExtension   = "gnome-extension"
	ShellExtensionID = "aai-gateway@aai.org"
)

// Clients lists the programs that start MCP servers for agents, and changes their configurations.
type Clients interface {
	// List returns the supported clients.
	List() []Client
	// LastChanged returns the id of the client with the latest changed configuration, "" for none.
	LastChanged() string
	// Plan returns the change that act, one of the constants above, makes to the configuration of
	// the client with that id, or to the extension of GNOME Shell. The profile is one of those of "mcp serve", or empty.
	Plan(act, client, profile string) (*ClientPlan, error)
	// Leftovers returns the gateway's own files and folders that exist, which uninstall leaves.
	Leftovers() []Leftover
	// Purge deletes a leftover.
	Purge(Leftover) error
}

// A Client is a program that starts MCP servers for an agent.
type Client struct {
	ID        string `json:"client"`
	Name      string `json:"name"`
	File      string `json:"file"`
	Installed bool   `json:"here"` // found on this computer
}

// A ClientPlan is a change of one client's configuration that Apply makes.
type ClientPlan struct {
	ID     string   `json:"client"`
	Name   string   `json:"name"`
	File   string   `json:"file"`
	Change string   `json:"does"`           // add, replace, remove, restore, delete, nothing or manual
	Diff   string   `json:"diff,omitempty"` // with manual: the text for the person to add
	Link   string   `json:"link,omitempty"` // with manual: the link by which the client adds it
	Notes  []string `json:"notes,omitempty"`
	After  string   `json:"after,omitempty"`
	// NeedsConfirmation reports that the change undoes or replaces an entry that another program
	// or a person wrote. Only a person at the terminal can confirm this; --yes cannot.
	NeedsConfirmation bool `json:"-"`
	// Apply makes the change.
	Apply func(context.Context) error `json:"-"`
	// Probe starts the server of the new configuration as the client does, and tests it. It is nil if nothing starts.
	Probe func(context.Context) (ProbeResult, error) `json:"-"`
}

// ProbeResult describes the server that ClientPlan.Probe started, by its answers.
type ProbeResult struct {
	Command  string        `json:"command"`
	Server   string        `json:"server"`
	Version  string        `json:"version"`
	Protocol string        `json:"protocol"`
	Tools    int           `json:"tools"`
	Took     time.Duration `json:"-"`
}

// clientResult is the JSON form of a plan's result.
type clientResult struct {
	*ClientPlan
	Done   bool            `json:"done"`
	Probed *ProbeResult    `json:"seen,omitempty"`
	Err    *answer.Failure `json:"error,omitempty"`
}

// installFlags are the flags of install and uninstall.
type installFlags struct {
	clients                     []string
	profile                     string
	dryRun, yes, rollback, list bool
	purge, extension            bool
}

func newInstall(r *run) *cobra.Command {
	var f installFlags
	profile := &enumFlag{value: &f.profile, allowed: []string{"default", "apps", "desktop", "all"}}
	cmd := &cobra.Command{
		Use:   "install [--client NAME]",
		Short: "Put the gateway among the MCP servers of the agents on this computer",
		Long: "Adds the gateway to the configuration of each agent's client that is found, or of those that are\n" +
			"named: shows the changes of each file, asks, keeps a backup, writes, and starts the new entry\n" +
			"as the client does. Nothing else in the file changes.",
		Example: "  aai-gateway install --dry-run\n" +
			"  aai-gateway install --client claude-code --profile desktop\n" +
			"  aai-gateway install --gnome-extension\n" +
			"  aai-gateway install --rollback",
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case f.rollback && f.list:
				return usage(cmd, "--rollback and --list are two things to do; give one of them")
			case f.rollback && f.profile != "":
				return usage(cmd, "--rollback undoes a change of any profile; give it without --profile")
			case f.extension && (f.rollback || f.list || f.profile != "" || len(f.clients) > 0):
				return usage(cmd, "--gnome-extension installs nothing else; give it without --client, --profile, --rollback and --list")
			case f.extension:
				f.clients = []string{ShellExtension}
			case f.list:
				return r.listClients()
			case f.rollback:
				return r.changeClients(cmd.Context(), ClientRollback, f)
			}
			return r.changeClients(cmd.Context(), ClientInstall, f)
		},
	}
	addInstallFlags(r, cmd, &f)
	cmd.Flags().Var(profile, "profile", "the tools to serve: default (as configured), apps, desktop or all")
	complete(cmd, "profile", profile.allowed...)
	cmd.Flags().BoolVar(&f.rollback, "rollback", false, "undo the last change of a client's configuration")
	cmd.Flags().BoolVar(&f.extension, "gnome-extension", false, "install the extension that tells the gateway the places of windows in GNOME")
	cmd.Flags().BoolVar(&f.list, "list", false, "list the clients that are known, and which are here")
	return cmd
}

func addInstallFlags(r *run, cmd *cobra.Command, f *installFlags) {
	cmd.Flags().StringSliceVar(&f.clients, "client", nil, "only this client, by its `name` in --list; may be given again")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "show what would change, and write nothing")
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	completeWith(cmd, "client", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		var ids []string
		if known, err := r.cfg.Clients(r.flags); err == nil {
			for _, c := range known.List() {
				ids = append(ids, c.ID)
			}
		}
		return ids, cobra.ShellCompDirectiveNoFileComp
	})
}

func (r *run) listClients() error {
	known, err := r.cfg.Clients(r.flags)
	if err != nil {
		return err
	}
	list := known.List()
	return r.output.show(list, func() error {
		rows := make([][]string, len(list))
		for i, c := range list {
			here := "no"
			if c.Installed {
				here = "yes"
			}
			rows[i] = []string{c.ID, c.Name, here, cmp.Or(c.File, "-")}
		}
		r.output.table([]string{"CLIENT", "NAME", "HERE", "FILE"}, rows)
		return nil
	})
}

// changeClients performs an act for each selected client.
func (r *run) changeClients(ctx context.Context, act string, f installFlags) error {
	known, err := r.cfg.Clients(r.flags)
	if err != nil {
		return err
	}
	ids, err := selectClients(known, act, f)
	if err != nil {
		return err
	}
	var results []clientResult
	failed := false
	for _, id := range ids {
		plan, err := known.Plan(act, id, profileFlag(f.profile))
		if err != nil && len(ids) == 1 {
			return err
		}
		if plan == nil {
			plan = unknownPlan(known, id)
		}
		if err == nil && act == ClientUninstall && plan.Change == "nothing" && len(plan.Notes) == 0 && len(f.clients) == 0 {
			continue // most clients do not have the gateway
		}
		result := clientResult{ClientPlan: plan}
		if err == nil {
			err = r.applyPlan(ctx, act, f, &result)
		}
		if ctx.Err() != nil {
			return err
		}
		if err != nil {
			failed = true
			view := errorObject(err)
			result.Err = &view
			if r.output.format == formatText {
				r.output.showError(err)
			}
		}
		results = append(results, result)
	}
	if err := r.showChanges(results, failed); err != nil || act != ClientUninstall || len(f.clients) > 0 {
		return err
	}
	return r.clearLeftovers(ctx, known, f)
}

// unknownPlan returns an empty plan for a client for which Plan failed.
func unknownPlan(known Clients, id string) *ClientPlan {
	for _, c := range known.List() {
		if c.ID == id {
			return &ClientPlan{ID: id, Name: c.Name, File: c.File, Change: "nothing"}
		}
	}
	return &ClientPlan{ID: id, Change: "nothing"}
}

// profileFlag returns the profile for Clients.Plan; "" is the configured one.
func profileFlag(profile string) string {
	if profile == "default" {
		return ""
	}
	return profile
}

// selectClients returns the clients that are named, or else those on this computer.
func selectClients(known Clients, act string, f installFlags) ([]string, error) {
	if len(f.clients) > 0 {
		return f.clients, nil
	}
	if act == ClientRollback {
		if last := known.LastChanged(); last != "" {
			return []string{last}, nil
		}
		e := aai.Errorf(aai.InvalidParams, "no change by install or uninstall is on record")
		e.Hint = "There is nothing to undo."
		return nil, e
	}
	var here, all []string
	for _, c := range known.List() {
		all = append(all, c.ID)
		if c.Installed {
			here = append(here, c.ID)
		}
	}
	if len(here) == 0 && act == ClientInstall {
		e := aai.Errorf(aai.AppNotFound, "no known client was found on this computer")
		e.Hint = "To create the configuration of one, name it: --client " + strings.Join(all, ", --client ")
		return nil, e
	}
	if act == ClientUninstall {
		here = append(here, ShellExtension)
	}
	return here, nil
}

// applyPlan shows a plan, asks for confirmation and applies it.
func (r *run) applyPlan(ctx context.Context, act string, f installFlags, result *clientResult) error {
	plan := result.ClientPlan
	r.output.say("%s: %s", plan.Name, cmp.Or(plan.File, "it has no file that can be edited"))
	for _, note := range plan.Notes {
		r.output.warn(note)
	}
	if plan.Change == "nothing" {
		if plan.File != "" {
			r.output.say("%s", nothingToDo(act))
		}
		return nil
	}
	if r.output.format == formatText {
		r.output.lines(plan.Diff)
	}
	if plan.Change == "manual" {
		if plan.Link != "" {
			r.output.say("%s", plan.Link)
		}
		r.output.say("%s", plan.After)
		return nil
	}
	if f.dryRun {
		return nil
	}
	if agreed, err := r.confirmPlan(ctx, act, plan, f); err != nil || !agreed {
		return err
	}
	if err := plan.Apply(ctx); err != nil {
		return err
	}
	result.Done = true
	r.output.say("%s", doneText(plan.Change))
	if act != ClientInstall {
		return nil
	}
	if plan.Probe == nil {
		r.output.say("%s", plan.After)
		return nil
	}
	stop := r.progress("waiting for the new entry to start")
	seen, err := plan.Probe(ctx)
	stop()
	if err != nil {
		return err
	}
	result.Probed = &seen
	r.output.say("Started as %s starts it: %s %s, MCP %s, %s, in %d ms.", plan.Name, seen.Server, seen.Version, seen.Protocol, aai.Count(seen.Tools, "tool"), seen.Took.Milliseconds())
	r.output.say("%s", plan.After)
	return nil
}

func nothingToDo(act string) string {
	if act == ClientInstall {
		return "It is there already, with the same content. Nothing to do."
	}
	return "The gateway is not in it. Nothing to do."
}

func doneText(does string) string {
	switch does {
	case "add":
		return "Added. \"aai-gateway uninstall\" removes it again."
	case "replace":
		return "Replaced. \"aai-gateway install --rollback\" restores the former entry."
	case "remove":
		return "Removed; the rest of the file is unchanged."
	case "delete":
		return "The file is gone: there was none before."
	}
	return "The file is restored, byte for byte."
}

// confirmPlan asks the person, unless --yes is set and the plan needs no confirmation.
func (r *run) confirmPlan(ctx context.Context, act string, plan *ClientPlan, f installFlags) (bool, error) {
	if f.yes && !plan.NeedsConfirmation {
		return true, nil
	}
	if r.output.terminal.Ask == nil {
		e := aai.Errorf(aai.ConsentRequired, "there is no terminal to confirm this change of %s at; nothing was written", plan.File)
		e.Hint = "--yes writes without asking, --dry-run only shows."
		if plan.NeedsConfirmation {
			e.Message = "this would replace an entry of another author in " + plan.File + ", which --yes does not cover; nothing was written"
			e.Hint = confirmationHint(act, plan.ID)
		}
		return false, e
	}
	question := "Write this?"
	if plan.NeedsConfirmation {
		question = "This replaces an entry of another author. Write it anyway?"
	}
	agreed, err := r.confirm(ctx, question)
	if err == nil && !agreed {
		r.output.say("Nothing was written.")
	}
	return agreed, err
}

// confirmationHint returns the next step where --yes is not enough.
func confirmationHint(act, id string) string {
	if act == ClientRollback {
		return "\"aai-gateway uninstall --client " + id + "\" removes only the gateway's entry. To undo the whole change, run install --rollback at a terminal: it asks."
	}
	return "Rename that entry, or remove it; or run \"aai-gateway install --client " + id + "\" at a terminal: it asks."
}

func (r *run) showChanges(results []clientResult, failed bool) error {
	if r.output.format == formatJSON {
		if results == nil {
			results = []clientResult{}
		}
		if err := r.output.json(results); err != nil {
			return err
		}
	} else if len(results) == 0 {
		r.output.say("The gateway is in no client's configuration.")
	}
	if failed {
		return &findingsError{exit: exitFailed}
	}
	return nil
}
