package gui

// Parameters of a point.
const (
	xyProps     = `"x": {"type": "integer"}, "y": {"type": "integer"}`
	pictureProp = `"in_picture": {"type": "boolean", "default": false, "description": "Points are in the last picture"}`
	pictureFlag = `"in_picture": {"type": "boolean", "default": false}`
)
