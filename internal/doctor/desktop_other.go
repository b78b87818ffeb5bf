//go:build !linux

package doctor

import "context"

// desktopExaminations are none: there are no ways to a desktop here yet.
func (d *Doctor) desktopExaminations() []examination { return nil }

func (d *Doctor) busAnswers(context.Context) (bool, error) { return false, nil }

func (d *Doctor) suggestForBareClient(context.Context, *Finding, gatewayCheck, []string) {}

// gateways cannot be told from other programs here.
func (d *Doctor) gateways(_ context.Context, f *Finding) {
	f.setSkipped("on this system nobody can say whether another runs")
}
