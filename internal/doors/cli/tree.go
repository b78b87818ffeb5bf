package cli

import "github.com/spf13/cobra"

// CommandTree returns the whole command line as a tree, for a manual for example. The tree
// must not be executed.
func CommandTree(cfg Config) *cobra.Command {
	r := &run{cfg: withStreams(cfg)}
	r.output = &output{out: r.cfg.Out, err: r.cfg.Err}
	return newRoot(r, nil)
}
