// Package actingsign decides when the person sees the sign that an agent acts, and draws it. The window systems show it.
package actingsign
