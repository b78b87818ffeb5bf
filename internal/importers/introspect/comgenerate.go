package introspect

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/drivers/com/typelib"
)

// A COMDriver runs recipes over COM and reads type libraries.
type COMDriver interface {
	aai.Driver
	// Describe returns the type library of a class. It starts no app unless start is set.
	Describe(ctx context.Context, progID string, start bool) (*typelib.Library, error)
}

// fromCOM is the prefix of the source of a descriptor that was generated from a type library.
const fromCOM = "com:"

// draftCOM drafts the descriptor of a class.
func (g *Generator) draftCOM(ctx context.Context, r Request) (*Draft, error) {
	progID := strings.TrimSpace(r.App)
	if g.cfg.CheckAllowed != nil {
		if err := g.cfg.CheckAllowed(&aai.App{ID: progID, Name: progID}); err != nil {
			return nil, err
		}
	}
	library, err := g.cfg.COM.Describe(ctx, progID, r.Start)
	if err != nil {
		return nil, err
	}
	digest, err := digestOfLibrary(library)
	if err != nil {
		return nil, aai.Errorf(aai.Internal, "the source's digest cannot be made: %w", err)
	}
	notes := &noteList{}
	d := &comDrafter{library: library, notes: notes}
	list := d.proposals()
	if len(list) == 0 {
		return nil, aai.Errorf(aai.AutomationNotSupported, "%s offers nothing that could be a tool", progID)
	}
	list = assignNames(limitByRank(list, r.Tools, notes))
	if library.InProcess || r.Start {
		list = g.checkCOM(ctx, list, notes)
	} else {
		notes.add("no tool was tried, since that would start the app; --start allows it")
	}
	draft := &Draft{Document: d.document(list)}
	draft.Document.Generated = &catalog.Generated{From: fromCOM + progID, Digest: digest}
	if err := draft.finish(list); err != nil {
		return nil, err
	}
	draft.Notes = append(notes.list, namesReadByName(list)...)
	return draft, nil
}

func digestOfLibrary(library *typelib.Library) (string, error) {
	text, err := json.Marshal(library)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// checkCOM runs every tool that only reads and needs no argument. It drops those that fail, and properties that cannot be read.
func (g *Generator) checkCOM(ctx context.Context, list []proposal, notes *noteList) []proposal {
	var kept []proposal
	for _, p := range list {
		if *p.declared.Effect == aai.Reads && len(p.needed) == 0 {
			result, err := g.ask.runRecipe(ctx, p.declared.Recipe, nil)
			if err != nil {
				notes.add("%s is left out: it cannot be read: %s", p.callee, aai.AsError(err).Message)
				continue
			}
			if !p.dropUnreadable(result, notes) {
				continue
			}
		}
		kept = append(kept, p)
	}
	return kept
}

// dropUnreadable removes the properties with errors as values. It returns false if none is left.
func (p *proposal) dropUnreadable(result any, notes *noteList) bool {
	values, _ := result.(map[string]any)
	step := &p.declared.Recipe.COM.Steps[len(p.declared.Recipe.COM.Steps)-1]
	if len(step.Properties) == 0 || step.Action != "get" {
		return true
	}
	step.Properties = slices.DeleteFunc(step.Properties, func(name string) bool {
		failed, _ := values[name].(map[string]any)
		if failed["type"] != "error" {
			return false
		}
		notes.add("%s: %s is left out: it cannot be read", p.callee, name)
		return true
	})
	return len(step.Properties) > 0
}

// document returns a document with the proposed tools.
func (d *comDrafter) document(list []proposal) *catalog.Document {
	id := strings.TrimRight(d.library.ProgID, "0123456789.")
	section := catalog.Section{Platform: "windows", Automation: "com", AppAddress: catalog.AppAddress{ProgID: d.library.ProgID}}
	for i := range list {
		list[i].declared.Recipe.App = id
		section.Tools = append(section.Tools, list[i].declared)
	}
	name := strings.ReplaceAll(id, ".", " ")
	doc := &catalog.Document{ID: id, Version: "1.0.0", Name: name, Sections: []catalog.Section{section}}
	doc.Description = fmt.Sprintf("What %s offers to scripts over COM.", name)
	if words := d.library.Name; words != "" {
		doc.Description = padDescription(words + ": what it offers to scripts over COM")
	}
	return doc
}
