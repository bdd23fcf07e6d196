"""Files for people to keep: the contact sheet, the backup, the folder of picks."""
