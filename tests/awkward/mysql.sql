-- MySQL dump 10.13
DROP TABLE IF EXISTS `links`;
CREATE TABLE `links` (
  `id` int NOT NULL,
  `url` varchar(255)
) ENGINE=InnoDB;

LOCK TABLES `links` WRITE;
INSERT INTO `links` VALUES (1,'https://a.example/'),(2,'https://b.example/'),(3,'https://c.example/x');
UNLOCK TABLES;
