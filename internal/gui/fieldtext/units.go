package fieldtext

import (
	"slices"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// DateTimeUnits are what the parts of a field for a date or a time count, such as "month", in the
// person's order and language; nil where their bounds do not say it. Bounds are narrow where
// the field has a first and a last moment: in a year that is fixed months may go from 3 to 9,
// and only where the month is fixed, too, are there fewer days.
func DateTimeUnits(parts []*desktop.Element) []string {
	if len(parts) < 2 { // as most fields, of which none is asked more
		return nil
	}
	var best []string
	most := -1
	for _, units := range orders() {
		if full := countMatchingUnits(units, parts); full > most {
			best, most = units, full
		} else if full == most {
			best = nil // either could be meant
		}
	}
	return best
}

// orders are the ways in which the units stand, as languages and HTML's fields have them.
func orders() (all [][]string) {
	dates := [][]string{nil, {"year", "month", "day"}, {"day", "month", "year"}, {"month", "day", "year"}, {"year", "month"}, {"month", "year"}, {"year", "week"}, {"week", "year"}}
	clocks := [][]string{nil}
	for _, clock := range [][]string{{"hour", "minute"}, {"hour", "minute", "second"}, {"hour", "minute", "second", "millisecond"}} {
		clocks = append(clocks, clock, append(slices.Clone(clock), "half"), append([]string{"half"}, clock...))
	}
	for _, date := range dates {
		for _, clock := range clocks {
			all = append(all, slices.Concat(date, clock))
			if date != nil && clock != nil {
				all = append(all, slices.Concat(clock, date))
			}
		}
	}
	return all
}

// countMatchingUnits counts the parts that go as far as their unit does; -1 where one cannot be its unit.
func countMatchingUnits(units []string, parts []*desktop.Element) int {
	if len(units) != len(parts) {
		return -1
	}
	full, fixed := 0, true
	for _, unit := range []string{"year", "month", "week", "day", "hour", "minute", "second", "millisecond", "half"} { // the greater first
		i := slices.Index(units, unit)
		if i < 0 {
			continue
		}
		e := parts[i]
		switch can, whole := fitsUnit(unit, e.Min, e.Max); {
		case !can || e.Min > e.Max:
			return -1
		case whole:
			full++
		case !fixed && unit != "half":
			return -1 // it is narrow in each of several greater ones
		}
		fixed = fixed && e.Min == e.Max
	}
	return full
}

// fitsUnit reports whether a unit may have such bounds, and whether it goes as far as it can.
func fitsUnit(unit string, least, most float64) (can, whole bool) {
	from := func(first, last, shortest float64) (bool, bool) {
		return least >= 0 && most <= last, least <= first && most >= shortest && most <= last
	}
	switch unit {
	case "year":
		return most >= 1000, least <= 1 && most >= 9999
	case "month":
		return from(1, 12, 12)
	case "week":
		return from(1, 53, 52)
	case "day":
		return from(1, 31, 28)
	case "hour": // from 0 to 11 and 23, from 1 to 12 and 24; of 0 to 0 nothing was told
		can, _ = from(0, 24, 0)
		return can && most > 0, least == 0 && (most == 11 || most == 23) || least <= 1 && (most == 12 || most == 24)
	case "minute", "second":
		return from(0, 59, 59)
	case "millisecond":
		return from(0, 999, 999)
	}
	return most == 1 || most == 2, most-least == 1
}
