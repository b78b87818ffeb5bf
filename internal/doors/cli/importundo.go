package cli

import (
	"context"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
)

// importUndo shows the changes that undo the last import, and makes them if the person
// agrees.
func (r *run) importUndo(ctx context.Context, f importFlags) error {
	result, err := r.callBuiltin(ctx, "import_undo", map[string]any{})
	if err != nil {
		return err
	}
	u, err := decodeView[answer.ImportUndo](result.Data)
	if err != nil {
		return err
	}
	if r.output.format == formatJSON && f.dryRun {
		return r.output.json(result.Data)
	}
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
	if f.dryRun {
		return nil
	}
	return r.saveImport(ctx, "import_undo_save", "Undo it?", map[string]any{"seen": u.Seen}, f.yes)
}
