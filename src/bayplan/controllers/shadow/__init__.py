"""Decides every pod that somebody else binds once more, and says where the two decisions differ.  Writes nothing."""
