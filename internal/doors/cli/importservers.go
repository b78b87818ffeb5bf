package cli

import (
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
)

// clientIDs returns the ids of the supported clients.
func (r *run) clientIDs() []string {
	if r.cfg.Clients == nil {
		return nil
	}
	known, err := r.cfg.Clients(r.flags)
	if err != nil {
		return nil
	}
	var ids []string
	for _, c := range known.List() {
		ids = append(ids, c.ID)
	}
	return ids
}

// importServers shows the apps of a client's MCP servers, and saves them if the person agrees.
func importServers(r *run, made answer.DraftedServers, c *toolCall) error {
	r.showServers(made)
	if len(made.Apps) == 0 {
		return nil
	}
	question := "Save " + aai.Count(len(made.Apps), "app") + ", and their values in the vault?"
	if made.Replace != nil {
		question = "Save " + aai.Count(len(made.Apps), "app") + ", their values in the vault, and change " + made.File + "?"
	}
	if err := r.saveImport(c, "import_servers_save", question, made.Seen); err != nil {
		return err
	}
	if made.Replace != nil && !c.isSet("dry-run") {
		r.output.note(made.Replace.After)
	}
	return nil
}

// showServers shows which servers become apps, and which do not.
func (r *run) showServers(made answer.DraftedServers) {
	for _, app := range made.Apps {
		if app.Place != "" {
			r.output.say("%s, of %s:", aai.CleanLabel(app.Server, maxLine), aai.CleanLabel(app.Place, maxLine))
		}
		if app.Same {
			r.output.say("%s: %s is there already, with the same content; its values are imported again.", aai.CleanLabel(app.Server, maxLine), app.Path)
		} else {
			r.output.lines(aai.CleanText(app.Diff, len(app.Diff)))
		}
		if len(app.Variables) > 0 {
			r.output.say("Values into the vault: %s.", aai.CleanLabel(strings.Join(app.Variables, ", "), maxLine))
		}
		if app.Login != "" {
			r.output.say("The key of its login (%s) goes there too.", aai.CleanLabel(app.Login, maxLine))
		}
		for _, note := range app.Notes {
			r.output.note(aai.CleanLabel(app.Server+": "+note, maxLine))
		}
	}
	for _, left := range made.Left {
		r.output.note(aai.CleanLabel("left out: "+left.Server+": "+left.Reason, maxLine))
	}
	if made.Replace != nil {
		r.output.lines(made.Replace.Diff)
		for _, note := range made.Replace.Notes {
			r.output.warn(note)
		}
	}
	if len(made.Apps) == 0 {
		r.output.say("%s has no MCP server in %s that can be imported.", made.Client, made.File)
	}
}

// undoImport shows the changes that undo the last import, and makes them if the person agrees.
func undoImport(r *run, u answer.ImportUndo, c *toolCall) error {
	r.output.say("The import of %s, of %s:", aai.CleanLabel(u.From, maxLine), u.At)
	for _, app := range u.Apps {
		r.output.say("%s: %s (%s)", aai.CleanLabel(app.App, maxLine), app.Does, aai.CleanLabel(app.Path, maxLine))
		r.output.lines(aai.CleanText(app.Diff, len(app.Diff)))
	}
	for _, app := range u.Vaulted {
		r.output.say("The vault's values of %s are restored.", aai.CleanLabel(app, maxLine))
	}
	if u.Note != "" {
		r.output.note(u.Note)
	}
	return r.saveImport(c, "import_undo_save", "Undo it?", u.Seen)
}
