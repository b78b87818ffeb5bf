package kept

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"aai/internal/workflow"
	"aai/internal/workflow/state"
)

// WarnOfLeft logs which runs were left in the middle, by what is kept there. It makes no
// database where there is none, keeps none open, and opens nothing that is sealed: nobody is
// asked for a keychain because a gateway starts.
func WarnOfLeft(ctx context.Context, cfg state.Config, log *slog.Logger) {
	cfg.Vault = shut{}
	keeper := state.New(cfg)
	defer keeper.Close() //nolint:errcheck // it was only read
	runs, err := keeper.Runs(ctx, maxListed)
	if err != nil {
		log.WarnContext(ctx, "what is kept of workflows cannot be read", "cause", err)
		return
	}
	for _, r := range runs {
		if r.State == workflow.Interrupted {
			log.WarnContext(ctx, "a workflow was left in the middle; aai-gateway workflow show says more",
				"run", r.ID, "at", fmt.Sprintf("step %d of %d", r.Step, r.Steps))
		}
	}
}

// shut is a vault that nobody opens.
type shut struct{}

var errShut = errors.New("it is not opened here")

func (shut) Seal(context.Context, string, []byte) ([]byte, error) { return nil, errShut }
func (shut) Open(context.Context, string, []byte) ([]byte, error) { return nil, errShut }
