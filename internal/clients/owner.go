package clients

import (
	"maps"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/clients/splice"
)

// isOwnEntry reports whether an entry named EntryName belongs to the gateway: it starts this
// program or one of its name, or the record says that this package wrote it.
func (r *Installer) isOwnEntry(kept *clientRecord, p *Plan, found map[string]any) bool {
	command, args := commandOf(found)
	if r.startsUs(command, args) {
		return true
	}
	return command != "" && slices.ContainsFunc(kept.Steps, func(s step) bool {
		return s.Kind == stepInstall && s.File == p.Client.File && s.Command == command
	})
}

// mergeEntry adds the person's additions in an existing entry to the new entry: fields, and
// arguments after ours. The new entry's command wins; otherwise the person's values win. The
// notes list the kept additions.
func mergeEntry(entry []splice.Field, found map[string]any) (whole []splice.Field, notes []string) {
	whole = slices.Clone(entry)
	rest := maps.Clone(found)
	_, theirs := commandOf(found)
	for i, f := range whole {
		value, there := rest[f.Name]
		delete(rest, f.Name)
		switch f.Name {
		case "command", "cmd", "type", "name":
		case "args":
			ours, _ := f.Value.([]string)
			if len(theirs) > len(ours) && slices.Equal(theirs[:len(ours)], ours) {
				whole[i].Value = theirs
				notes = append(notes, "The arguments that were added to the entry stay. uninstall, and install after it, leave "+
					"them out.")
			}
		default:
			if there {
				whole[i].Value = value
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(rest)) {
		whole = append(whole, splice.Field{Name: name, Value: rest[name]})
	}
	return whole, notes
}

// fieldNames lists the names of an entry's fields, for people.
func fieldNames(found map[string]any) string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(found)) {
		names = append(names, aai.CleanLabel(name, 40))
	}
	if len(names) == 0 {
		return "it has no fields"
	}
	return "its " + strings.Join(names, ", ")
}
