package cli

import "github.com/spf13/cobra"

// CommandTree is the whole command line as a tree, for those who describe it, as a manual
// does. It is not to be run.
func CommandTree(cfg Config) *cobra.Command {
	r := &run{cfg: withStreams(cfg)}
	r.output = &output{out: r.cfg.Out, err: r.cfg.Err}
	return newRoot(r, nil)
}
