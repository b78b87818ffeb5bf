package workflow

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
)

// WarnInterrupted logs the interrupted runs. It creates no database, keeps none open, and opens
// nothing sealed, so that starting a gateway opens no keychain.
func WarnInterrupted(ctx context.Context, cfg SQLiteConfig, log *slog.Logger) {
	cfg.Vault = closedVault{}
	keeper := NewSQLiteStore(cfg)
	defer keeper.Close() //nolint:errcheck // it was only read
	runs, err := keeper.Runs(ctx, maxListed)
	if err != nil {
		log.WarnContext(ctx, "the stored workflow runs cannot be read", "cause", err)
		return
	}
	for _, r := range runs {
		if r.State == Interrupted {
			log.WarnContext(ctx, "a workflow was interrupted; aai-gateway workflow show says more",
				"run", r.ID, "at", fmt.Sprintf("step %d of %d", r.Step, r.Steps))
		}
	}
}

// closedVault is a vault that never opens.
type closedVault struct{}

var errVaultClosed = errors.New("it is not opened here")

func (closedVault) Seal(context.Context, string, []byte) ([]byte, error) { return nil, errVaultClosed }
func (closedVault) Open(context.Context, string, []byte) ([]byte, error) { return nil, errVaultClosed }
