package introspect

import "github.com/gybob/aai-gateway"

// A memberFact describes a method, or setting a property, of a common interface, according to its
// specification.
type memberFact struct {
	effect aai.Effect
	words  string
	args   map[string]string // descriptions of its arguments
}

// knownMembers returns the facts about an interface; empty for most.
func knownMembers(iface string) map[string]memberFact {
	switch iface {
	case "org.mpris.MediaPlayer2":
		return map[string]memberFact{
			"Raise":      {effect: aai.Changes, words: "Bring the player's window to the front."},
			"Quit":       {effect: aai.Destroys, words: "End the player."},
			"Fullscreen": {effect: aai.Changes, words: "Show the player on the whole screen, or not."},
		}
	case "org.mpris.MediaPlayer2.Player":
		return knownPlayerMembers()
	case "org.mpris.MediaPlayer2.TrackList":
		return map[string]memberFact{
			"GetTracksMetadata": {effect: aai.Reads, words: "Get the metadata of tracks of the list: title, artist, length."},
			"GoTo":              {effect: aai.Changes, words: "Go on with this track of the list."},
			"AddTrack":          {effect: aai.Changes, words: "Add a track to the list."},
			"RemoveTrack":       {effect: aai.Destroys, words: "Take a track out of the list."},
		}
	case "org.mpris.MediaPlayer2.Playlists":
		return map[string]memberFact{
			"GetPlaylists":     {effect: aai.Reads, words: "List the playlists."},
			"ActivatePlaylist": {effect: aai.Changes, words: "Play this playlist."},
		}
	case "org.freedesktop.DBus.ObjectManager":
		return map[string]memberFact{
			"GetManagedObjects": {effect: aai.Reads, words: "List the objects of the service, with the properties of each."},
		}
	case application:
		return map[string]memberFact{
			"Activate": {effect: aai.Changes, words: "Show the app's window; starts the app if it does not run."},
			"Open":     {effect: aai.Destroys, words: "Open files or addresses in the app."},
		}
	}
	return knownServiceMembers(iface)
}

func knownPlayerMembers() map[string]memberFact {
	return map[string]memberFact{
		"Play":      {effect: aai.Changes, words: "Start or go on playing."},
		"Pause":     {effect: aai.Changes, words: "Pause playing."},
		"PlayPause": {effect: aai.Changes, words: "Pause playing, or go on."},
		"Stop":      {effect: aai.Changes, words: "Stop playing."},
		"Next":      {effect: aai.Changes, words: "Go to the next track."},
		"Previous":  {effect: aai.Changes, words: "Go to the track before."},
		"Seek": {effect: aai.Changes, words: "Move within the track, forward or back.", args: map[string]string{
			"Offset": "Microseconds to move by; negative is back",
		}},
		"SetPosition": {effect: aai.Changes, words: "Go to a position within the track.", args: map[string]string{
			"TrackId": "The track, as the metadata names it (mpris:trackid)", "Position": "Microseconds from its beginning",
		}},
		"OpenUri":    {effect: aai.Changes, words: "Open an address, and play it."},
		"LoopStatus": {effect: aai.Changes, words: "Repeat none, the track or the list: None, Track or Playlist."},
		"Rate":       {effect: aai.Changes, words: "Set how fast it plays; 1.0 is normal."},
		"Shuffle":    {effect: aai.Changes, words: "Play in a mixed order, or not."},
		"Volume":     {effect: aai.Changes, words: "Set the volume; 1.0 is full."},
	}
}

// knownServiceMembers returns the facts about interfaces of desktop services.
func knownServiceMembers(iface string) map[string]memberFact {
	switch iface {
	case "org.freedesktop.Notifications":
		return map[string]memberFact{
			"GetCapabilities":      {effect: aai.Reads, words: "List the features of notifications."},
			"GetServerInformation": {effect: aai.Reads, words: "Get the name, maker and version of the notification server."},
			"CloseNotification":    {effect: aai.Destroys, words: "Close a notification."},
		}
	case "org.gnome.Shell.SearchProvider2":
		return map[string]memberFact{
			"GetInitialResultSet":   {effect: aai.Reads, words: "Search the app; gives the ids of the results."},
			"GetSubsearchResultSet": {effect: aai.Reads, words: "Search within the results."},
			"GetResultMetas":        {effect: aai.Reads, words: "Get the names and descriptions of results."},
			"LaunchSearch":          {effect: aai.Changes, words: "Show the app with this search."},
			"ActivateResult":        {effect: aai.Destroys, words: "Open a result in the app."},
		}
	case "org.gtk.vfs.MountTracker":
		return map[string]memberFact{"ListMounts": {effect: aai.Reads}, "ListMounts2": {effect: aai.Reads},
			"ListMountTypes": {effect: aai.Reads}, "ListMountableInfo": {effect: aai.Reads}}
	}
	return nil
}
