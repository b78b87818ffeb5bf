package cli

import (
	"encoding/json"

	"github.com/spf13/cobra"
)

func newConfig(r *run) *cobra.Command {
	return &cobra.Command{
		Use:   "config",
		Short: "Show the settings in effect and where each of them comes from",
		RunE:  func(*cobra.Command, []string) error { return r.config() },
	}
}

func (r *run) config() error {
	settings, err := r.cfg.ShowConfig(r.flags)
	if err != nil {
		return err
	}
	return r.output.show(settings, func() error {
		rows := make([][]string, 0, len(settings))
		for _, s := range settings {
			rows = append(rows, []string{s.Name, settingValue(s.Value), s.Origin})
		}
		r.output.table([]string{"NAME", "VALUE", "ORIGIN"}, rows)
		return nil
	})
}

// settingValue formats a value as in the configuration file, except that a string has no
// quotes.
func settingValue(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return "(cannot be shown)"
	}
	return string(raw)
}
