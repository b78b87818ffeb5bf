package config

import (
	"maps"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
)

// maxSuggestions limits the settings suggested for an unknown key.
const maxSuggestions = 3

// nearestSettings returns at most maxSuggestions settings that resemble key: by spelling, by last
// part, then by group. For .toml files the aliases count too.
func nearestSettings(key, origin string, names []string) []string {
	if strings.HasSuffix(origin, ".toml") {
		names = slices.Concat(names, slices.Sorted(maps.Keys(settingAliases())))
	}
	group, last := "", key
	if at := strings.LastIndexByte(key, '.'); at >= 0 {
		group, last = key[:at], key[at+1:]
	}
	byLast := make(map[string]string)
	var lasts []string
	for _, name := range names {
		part := name[strings.LastIndexByte(name, '.')+1:]
		if _, taken := byLast[part]; !taken {
			byLast[part] = name
			lasts = append(lasts, part)
		}
	}
	near := aai.Nearest(key, names, maxSuggestions)
	for _, part := range aai.Nearest(last, lasts, maxSuggestions) {
		near = append(near, byLast[part])
	}
	for _, name := range names { // the group's name may be the name of the setting
		if last != "" && strings.HasPrefix(name, last) {
			near = append(near, name)
		}
	}
	for _, name := range names {
		if group != "" && strings.HasPrefix(name, group+".") {
			near = append(near, name)
		}
	}
	return firstDistinct(near)
}

// firstDistinct returns the first maxSuggestions distinct names.
func firstDistinct(names []string) []string {
	var first []string
	for _, name := range names {
		if !slices.Contains(first, name) && len(first) < maxSuggestions {
			first = append(first, name)
		}
	}
	return first
}
