"""What extensions store in the profile. Transaction functions; knows no caller and no runtime."""
