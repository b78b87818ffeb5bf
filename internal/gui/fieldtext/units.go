package fieldtext

import (
	"slices"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// DateTimeUnits returns the units of a date or time field's parts, such as "month", in the order of
// the user's language. It returns nil if their bounds are ambiguous. A field's minimum and maximum
// narrow the bounds: in a fixed year, months may range from 3 to 9. Days are narrow only if the
// month is fixed, too.
func DateTimeUnits(parts []*desktop.Element) []string {
	if len(parts) < 2 { // most fields have no parts, and need no more calls
		return nil
	}
	var best []string
	most := -1
	for _, units := range orders() {
		if full := countMatchingUnits(units, parts); full > most {
			best, most = units, full
		} else if full == most {
			best = nil // ambiguous
		}
	}
	return best
}

// orders returns the possible orders of units, in languages and HTML fields.
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

// countMatchingUnits counts parts with their unit's full range; -1 if one cannot have its unit.
func countMatchingUnits(units []string, parts []*desktop.Element) int {
	if len(units) != len(parts) {
		return -1
	}
	full, fixed := 0, true
	for _, unit := range []string{"year", "month", "week", "day", "hour", "minute", "second", "millisecond", "half"} { // greater units first
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
			return -1 // a unit is narrow only if all greater ones are fixed
		}
		fixed = fixed && e.Min == e.Max
	}
	return full
}

// fitsUnit reports whether a unit may have such bounds, and whether they are its full range.
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
	case "hour": // from 0 to 11 or 23, or from 1 to 12 or 24; 0 to 0 means unknown
		can, _ = from(0, 24, 0)
		return can && most > 0, least == 0 && (most == 11 || most == 23) || least <= 1 && (most == 12 || most == 24)
	case "minute", "second":
		return from(0, 59, 59)
	case "millisecond":
		return from(0, 999, 999)
	}
	return most == 1 || most == 2, most-least == 1
}
